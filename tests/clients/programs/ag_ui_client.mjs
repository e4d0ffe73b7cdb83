// Drives `HttpAgent` of `@ag-ui/client`, unmodified: `node ag_ui_client.mjs <case>`. The folder of the package is in CLIENTS.
// Every line that it prints is a JSON object; the last one is the result.

import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const require = createRequire(`${process.env.CLIENTS}/package.json`)
const { HttpAgent, verifyEvents, defaultApplyEvents, enforceEvents } = require('@ag-ui/client')
const { from, lastValueFrom, toArray } = require('rxjs')
const { BASE_URL, API_KEY } = process.env
const say = (what) => console.log(JSON.stringify(what))
console.error = () => {}
process.on('unhandledRejection', () => {}) // the client cancels a body that has failed, and does not catch that error

function agent(name = 'helper', thread = process.env.THREAD ?? 'thread-1', key = API_KEY) {
  const headers = key ? { Authorization: `Bearer ${key}` } : {}
  return new HttpAgent({ url: `${BASE_URL}/api/ag-ui/${name}`, threadId: thread, headers })
}

let made = 0
const ask = (each, content) => each.addMessage({ id: `user-${(made += 1)}`, role: 'user', content })
const text = (messages) => messages.flatMap((each) => (each.role === 'assistant' && each.content ? [each.content] : [])).join('|')
const roles = (messages) => messages.map((each) => each.role)

// Runs the agent and returns the names of its events, the outcome and the messages that the client then has.
async function run(each, parameters = {}) {
  const types = []
  let outcome
  const { newMessages, result } = await each.runAgent(parameters, {
    onEvent: ({ event }) => void types.push(event.type),
    onRunFinishedEvent: (finished) => {
      outcome = finished.outcome
    },
  })
  return { types, outcome, result, text: text(newMessages), roles: roles(newMessages), interrupts: each.pendingInterrupts }
}

const tool = { name: 'get_weather', description: 'Get the weather.', parameters: { type: 'object', properties: { city: { type: 'string' } } } }

const cases = {
  async answer() {
    const each = agent()
    ask(each, 'hello')
    const first = await run(each)
    ask(each, 'repeat')
    say({ ...first, repeated: await run(each, { context: [{ description: 'Place', value: 'Oslo' }] }), roles: roles(each.messages) })
  },

  async tool() {
    const each = agent()
    ask(each, 'look')
    say({ ...(await run(each)), messages: each.messages })
  },

  async approval() {
    const each = agent()
    ask(each, 'refund')
    const asked = await run(each)
    const [interrupt] = each.pendingInterrupts
    const payload = { approved: process.env.APPROVED !== 'false', reason: 'too dear' }
    say({ asked, interrupt, told: await run(each, { resume: [{ interruptId: interrupt.id, status: 'resolved', payload }] }) })
  },

  async client_tool() {
    const each = agent()
    ask(each, 'weather')
    const asked = await run(each, { tools: [tool] })
    const call = each.messages.at(-1).toolCalls[0]
    each.addMessage({ id: 'result-1', role: 'tool', toolCallId: call.id, content: `rain in ${JSON.parse(call.function.arguments).city}` })
    say({ asked, call, told: await run(each, { tools: [tool] }), roles: roles(each.messages) })
  },

  async booking() {
    const each = agent('airline')
    each.state = { cart: 1 }
    ask(each, 'a seat')
    const parts = [await run(each)]
    const [question] = each.pendingInterrupts
    let wrong
    try {
      await run(each, { resume: [{ interruptId: question.id, status: 'resolved', payload: { row: 'x' } }] })
    } catch (refused) {
      wrong = [refused.status, refused.payload]
    }
    parts.push(await run(each, { resume: [{ interruptId: question.id, status: 'resolved', payload: { row: 12 } }] }))
    const call = each.messages.at(-1).toolCalls[0]
    each.addMessage({ id: 'result-1', role: 'tool', toolCallId: call.id, content: 'Oslo' })
    parts.push(await run(each))
    const [confirm] = each.pendingInterrupts
    parts.push(await run(each, { resume: [{ interruptId: confirm.id, status: 'resolved', payload: { approved: true } }] }))
    say({ parts, question, confirm, wrong, state: each.state })
  },

  async cancel() {
    const each = agent()
    ask(each, 'endless')
    let stopped
    let outcome
    await each.runAgent({}, {
      onTextMessageContentEvent: ({ textMessageBuffer }) => {
        if (textMessageBuffer.length > 4) stopped ??= fetch(`${each.url}/${each.threadId}/stop`, { method: 'POST', headers: each.headers })
      },
      onRunFinishedEvent: (finished) => {
        outcome = finished.outcome
      },
    })
    say({ outcome, stopped: await (await stopped).json() })
  },

  // A page that was reloaded has no interrupts. The refusal of its message has them.
  async reload() {
    const before = agent()
    ask(before, 'refund')
    await run(before)
    const after = agent()
    ask(after, 'hello')
    try {
      await run(after)
    } catch (refused) {
      const [{ id, message }] = refused.payload.metadata.outcome.interrupts
      const told = await run(after, { resume: [{ interruptId: id, status: 'resolved', payload: { approved: true } }] })
      say({ status: refused.status, code: refused.payload.code, message, text: told.text })
    }
  },

  async error() {
    const found = {}
    const attempt = async (name, each, content = 'hello') => {
      ask(each, content)
      let event
      try {
        await each.runAgent({}, { onRunErrorEvent: (failed) => void (event = failed.event) })
      } catch (refused) {
        found[name] = [refused.status, refused.payload?.type, refused.payload?.code]
      }
      if (event) found[name] = [event.type, event.code]
    }
    await attempt('failed', agent(), 'fail')
    await attempt('unknown', agent('unknown', 'another'))
    await attempt('image', agent('helper', 'a third'), [{ type: 'image', source: { type: 'url', value: 'https://example.com/a.png' } }])
    say(found)
  },

  async key() {
    const wrong = agent('helper', 'wrong', 'wrong')
    ask(wrong, 'hello')
    let denied
    try {
      await run(wrong)
    } catch (refused) {
      denied = [refused.status, refused.payload?.type, refused.payload?.code]
    }
    const each = agent()
    ask(each, 'hello')
    say({ denied, text: (await run(each)).text })
  },

  async file() {
    const each = agent('viewer')
    const value = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64')
    ask(each, [
      { type: 'text', text: 'look' },
      { type: 'image', source: { type: 'data', value, mimeType: 'image/png' } },
      { type: 'document', source: { type: 'data', value: Buffer.from('%PDF-1.7').toString('base64'), mimeType: 'application/pdf' } },
    ])
    const first = await run(each)
    ask(each, [{ type: 'document', source: { type: 'url', value: 'data:text/plain,abcd' } }])
    const next = await run(each)
    const other = agent('printer', 'printed')
    ask(other, 'one')
    say({ text: first.text, next: next.text, made: (await run(other)).result.files })
  },

  // Follows one run over connections that break: the same `runId` again.
  async resume() {
    const each = agent()
    ask(each, process.env.INPUT ?? 'count')
    let cuts = 0
    for (;;) {
      try {
        const found = await run(each, { runId: 'run-1' })
        if (!found.types.includes('RUN_FINISHED')) throw new Error('no end')
        say({ text: text(each.messages), roles: roles(each.messages), cuts, outcome: found.outcome, types: found.types })
        return
      } catch (broken) {
        cuts += 1
        say({ cut: broken.message })
      }
    }
  },

  // Answers a question, a call of a tool and a confirmation, over connections that break: the same `runId` again.
  async book() {
    const each = agent('airline')
    let isOver
    each.subscribe({ onRunFinishedEvent: () => void (isOver = true) })
    const sent = async (runId, resume) => {
      for (isOver = false; !isOver; ) {
        try {
          await run(each, { runId, ...(resume && { resume }) })
        } catch (broken) {
          if (broken.status) throw broken
        }
      }
      return [...each.pendingInterrupts]
    }
    const resolved = ({ id }, payload) => [{ interruptId: id, status: 'resolved', payload }]
    ask(each, 'a seat')
    const asked = await sent('run-1')
    await sent('run-2', resolved(asked[0], { row: 12 }))
    const call = each.messages.at(-1).toolCalls[0]
    each.addMessage({ id: 'result-1', role: 'tool', toolCallId: call.id, content: 'Oslo' })
    asked.push(...(await sent('run-3')))
    await sent('run-4', resolved(asked[1], { approved: true }))
    say({ asked: asked.map(({ message }) => message), tool: call.function.name, text: text(each.messages), roles: roles(each.messages) })
  },

  // Reads random logs with the client's own schemas, its verifier and its reducer.
  async laws() {
    const found = []
    for await (const line of createInterface({ input: process.stdin })) {
      const { parts } = JSON.parse(line)
      const each = agent()
      for (const part of parts) {
        each.run = () => from(part)
        try {
          await each.runAgent({ resume: each.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: 'resolved' })) })
        } catch (failed) {
          if (part.at(-1).type !== 'RUN_ERROR') throw failed
        }
      }
      const calls = each.messages.flatMap((m) => m.toolCalls ?? [])
      const results = each.messages.flatMap((m) => (m.role === 'tool' ? [[m.toolCallId, m.content]] : []))
      found.push({ text: text(each.messages), calls, results })
    }
    say({ found })
  },
}

await cases[process.argv[2]]()
