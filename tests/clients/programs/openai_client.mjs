// Drives the library `openai` for Node, unmodified: `node openai_client.mjs <case>`. The folder of the library is in
// CLIENTS. Every line that it prints is a JSON object; the last one is the result.

import { createRequire } from 'node:module'

const OpenAI = createRequire(`${process.env.CLIENTS}/package.json`)('openai').default
const client = new OpenAI({ baseURL: `${process.env.BASE_URL}/v1`, apiKey: process.env.API_KEY ?? 'none' })
const model = 'helper'
const tool = {
  type: 'function',
  name: 'get_weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

const say = (what) => console.log(JSON.stringify(what))
const shown = (response) => ({
  id: response.id,
  status: response.status,
  text: response.output.flatMap((item) => (item.type === 'message' ? item.content.map((part) => part.text) : [])).join(''),
  items: response.output.map((item) => item.type),
})

// Reads a response to its end over connections that break: `starting_after` is the last event that was seen.
async function follow(request) {
  const seen = []
  let final, id
  let connections = 0
  let events = await client.responses.create({ model, stream: true, background: true, ...request })
  while (!final) {
    try {
      connections += 1
      events ??= await client.responses.retrieve(id, { stream: true, starting_after: seen.at(-1)[0] })
      for await (const event of events) {
        seen.push([event.sequence_number, event.type])
        if (event.type === 'response.created') id = event.response.id
        if (event.type === 'response.completed') final = event.response
      }
    } catch (broken) {
      if (!(broken instanceof Error)) throw broken
    }
    events = undefined
  }
  return [final, seen, connections]
}

const cases = {
  async answer() {
    const response = await client.responses.create({ model, input: 'hello' })
    const { data } = await client.models.list()
    say({ ...shown(await client.responses.retrieve(response.id)), models: data.map(({ id }) => id) })
  },

  async stream() {
    const events = client.responses.stream({ model, input: 'look' })
    const types = []
    for await (const event of events) types.push(event.type)
    say({ ...shown(await events.finalResponse()), types })
  },

  async client_tool() {
    const first = await client.responses.create({ model, input: 'weather', tools: [tool] })
    const input = first.output
      .filter((item) => item.type === 'function_call')
      .map((item) => ({ type: 'function_call_output', call_id: item.call_id, output: 'rain' }))
    const second = await client.responses.create({ model, input, previous_response_id: first.id, tools: [tool] })
    say({ first: shown(first), second: shown(second) })
  },

  // A person decides elsewhere while the stream is open.
  async approval() {
    let waits
    for await (const event of await client.responses.create({ model, input: 'refund', stream: true, background: true })) {
      const found = event.response?.runyard?.waits ?? []
      if (found.length > 0 && !waits) say({ waits: (waits = found) })
      if (event.type === 'response.completed') say(shown(event.response))
    }
  },

  // A person delays the answer, and there is no stream. The library repeats what times out.
  async impatient() {
    const found = []
    const timeout = 5000
    const messages = [{ role: 'user', content: 'refund' }]
    for (const ask of [
      () => client.responses.create({ model, input: 'refund' }, { timeout }),
      () => client.chat.completions.create({ model, messages }, { timeout }),
    ]) {
      try {
        await ask()
      } catch (error) {
        const name = error.message.match(/response (resp_[^.]+)/)?.[1]
        found.push([error.code, name && (await client.responses.retrieve(name)).status])
      }
    }
    say({ found })
  },

  async files() {
    const image = `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64')}`
    const pdf = `data:application/pdf;base64,${Buffer.from('%PDF-1.7').toString('base64')}`
    const content = [
      { type: 'input_text', text: 'look' },
      { type: 'input_image', image_url: image, detail: 'auto' },
      { type: 'input_file', filename: 'a.pdf', file_data: pdf },
    ]
    const response = await client.responses.create({ model: 'viewer', input: [{ role: 'user', content }] })
    const parts = [
      { type: 'text', text: 'see' },
      { type: 'image_url', image_url: { url: image } },
    ]
    const chat = await client.chat.completions.create({ model: 'viewer', messages: [{ role: 'user', content: parts }] })
    const made = await client.responses.create({ model: 'printer', input: 'one' })
    const [item] = (await client.responses.inputItems.list(response.id)).data
    const input = item.content.map((part) => [part.type, part.text ?? null])
    say({
      response: shown(response).text,
      made: made.runyard.files[0].name,
      chat: chat.choices[0].message.content,
      input,
    })
  },

  async error() {
    const failed = await client.responses.create({ model, input: 'fail' })
    const found = { failed: [failed.status, failed.error.code] }
    const refused = async (name, made) => {
      await made.catch((error) => (found[name] = [error.constructor.name, error.code]))
    }
    await refused('model', client.responses.create({ model: 'unknown', input: 'hello' }))
    await refused('tool', client.responses.create({ model, input: 'hello', tools: [{ type: 'web_search' }] }))
    await refused('previous', client.responses.create({ model, input: 'hello', previous_response_id: 'resp_1' }))
    await refused('chat', client.chat.completions.create({ model, messages: [{ role: 'user', content: 'fail' }] }))
    say(found)
  },

  async key() {
    const wrong = new OpenAI({ baseURL: client.baseURL, apiKey: 'wrong' })
    let denied
    await wrong.responses.create({ model, input: 'hello' }).catch((error) => (denied = [error.constructor.name, error.code]))
    say({ denied, text: shown(await client.responses.create({ model, input: 'hello' })).text })
  },

  async cancel() {
    const response = await client.responses.create({ model, input: 'endless', background: true })
    const seen = []
    for await (const event of await client.responses.retrieve(response.id, { stream: true })) {
      seen.push(event.type)
      if (seen.length === 10) await client.responses.cancel(response.id)
    }
    say({ last: seen.at(-1), status: (await client.responses.retrieve(response.id)).status })
  },

  async resume() {
    const [final, seen, connections] = await follow({ input: process.env.INPUT ?? 'count' })
    say({ ...shown(final), seen, connections })
  },

  async resume_tool() {
    const [first] = await follow({ input: 'weather', tools: [tool] })
    const input = first.output
      .filter((item) => item.type === 'function_call')
      .map((item) => ({ type: 'function_call_output', call_id: item.call_id, output: `rain in ${JSON.parse(item.arguments).city}` }))
    const [second] = await follow({ input, previous_response_id: first.id, tools: [tool] })
    say({ texts: [shown(first).text, shown(second).text], items: shown(first).items })
  },

  async chat() {
    const messages = [{ role: 'user', content: 'hello' }]
    let text = ''
    for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
      text += chunk.choices[0]?.delta.content ?? ''
    }
    const whole = await client.chat.completions.create({ model, messages })
    say({ text, whole: whole.choices[0].message.content })
  },
}

await cases[process.argv[2]]()
