// Drives the library `@langchain/langgraph-sdk` for Node, unmodified: `node langgraph_client.mjs <case>`. The folder of
// the library is in CLIENTS. Every line that it prints is a JSON object; the last one is the result.

import { createRequire } from 'node:module'

const { Client } = createRequire(`${process.env.CLIENTS}/package.json`)('@langchain/langgraph-sdk')
const client = new Client({ apiUrl: `${process.env.BASE_URL}/langgraph`, apiKey: process.env.API_KEY ?? null })
const streamMode = ['values', 'messages-tuple', 'updates', 'custom']

const say = (what) => console.log(JSON.stringify(what))
const asks = (content) => ({ messages: [{ type: 'human', content }] })
const texts = (values) => values.messages.map((message) => [message.type, message.content])

const followed = async (parts) => {
  const found = { events: [], ids: [], text: '', values: null }
  for await (const part of parts) {
    found.events.push(part.event)
    found.ids.push(part.id)
    if (part.event === 'messages' && part.data[0].type === 'AIMessageChunk') found.text += part.data[0].content
    if (part.event === 'values') found.values = part.data
  }
  return found
}

const cases = {
  async key() {
    const wrong = new Client({ apiUrl: `${process.env.BASE_URL}/langgraph`, apiKey: 'wrong' })
    let denied
    await wrong.runs.wait(null, 'helper', { input: asks('hello') }).catch((error) => (denied = [error.status, error.message]))
    say({ denied, text: texts(await client.runs.wait(null, 'helper', { input: asks('hello') })).at(-1)[1] })
  },

  async answer() {
    const thread = await client.threads.create({ metadata: { user: 'ann' } })
    const values = await client.runs.wait(thread.thread_id, 'helper', { input: asks('hello') })
    const [found] = await client.threads.search({ metadata: { user: 'ann' } })
    const state = await client.threads.getState(thread.thread_id)
    const [run] = await client.runs.list(thread.thread_id)
    const [last] = await client.threads.getHistory(thread.thread_id)
    say({
      texts: texts(values),
      same: [state, found, last].every((each) => JSON.stringify(each.values) === JSON.stringify(values)),
      status: run.status,
    })
  },

  async stream() {
    let run
    const onRunCreated = (created) => (run = created)
    const found = await followed(client.runs.stream(null, 'helper', { input: asks('look'), streamMode, onRunCreated }))
    const again = await followed(client.runs.joinStream(run.thread_id, run.run_id, { lastEventId: '-1', streamMode }))
    say({ ...found, same: JSON.stringify(again) === JSON.stringify(found) })
  },

  async approval() {
    const { thread_id } = await client.threads.create()
    const first = await followed(client.runs.stream(thread_id, 'helper', { input: asks('refund') }))
    const [interrupt] = first.values.__interrupt__
    const command = { resume: { [interrupt.id]: { decisions: [{ type: 'reject', message: 'too late' }] } } }
    const second = await followed(client.runs.stream(thread_id, 'helper', { command }))
    say({ asked: interrupt.value.action_requests[0].name, texts: texts(second.values) })
  },

  // A question, a tool of the client and a confirmation.
  async questions() {
    const { thread_id } = await client.threads.create()
    let values = await client.runs.wait(thread_id, 'airline', { input: { wish: 'a seat' } })
    const seen = []
    for (const resume of [{ row: 12 }, 'Oslo', true]) {
      seen.push(values.__interrupt__[0].value)
      values = await client.runs.wait(thread_id, 'airline', { command: { resume } })
    }
    say({ seen, last: texts(values).at(-1), seat: values.seat })
  },

  async files() {
    const data = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64')
    const content = [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
      { type: 'file', mimeType: 'text/plain', data: 'aGVsbG8=', metadata: { filename: 'a.txt' } },
    ]
    const seen = await client.runs.wait(null, 'viewer', { input: asks(content) })
    const made = await client.runs.wait(null, 'printer', { input: asks('one') })
    say({ seen: seen.messages.at(-1).content, made: made.messages.at(-1).additional_kwargs })
  },

  async cancel() {
    const { thread_id } = await client.threads.create()
    const run = await client.runs.create(thread_id, 'helper', { input: asks('endless') })
    const seen = []
    for await (const part of client.runs.joinStream(thread_id, run.run_id, { streamMode: ['messages-tuple'] })) {
      seen.push(part.event)
      if (seen.length === 4) await client.runs.cancel(thread_id, run.run_id)
    }
    say({ last: seen.at(-1), status: (await client.runs.get(thread_id, run.run_id)).status })
  },

  async error() {
    const found = {}
    await client.runs.wait(null, 'helper', { input: asks('fail') }).catch((error) => (found.failed = error.message))
    await client.threads.get('none').catch((error) => (found.status = error.status))
    say(found)
  },

  // A question, a tool of the client and a confirmation, over connections that break.
  async book() {
    const { thread_id } = await client.threads.create()
    const asked = []
    let given = { input: { wish: 'a seat' } }
    let found
    for (const resume of [{ row: 12 }, 'Oslo', true, null]) {
      found = await followed(client.runs.stream(thread_id, 'airline', { ...given, streamMode }))
      asked.push(...(found.values.__interrupt__ ?? []).map(({ value }) => (typeof value === 'string' ? value : Object.keys(value))))
      given = { command: { resume } }
    }
    say({ asked, texts: texts(found.values) })
  },

  async resume() {
    say(await followed(client.runs.stream(null, 'helper', { input: asks(process.env.INPUT ?? 'hello'), streamMode })))
  },
}

await cases[process.argv[2]]()
