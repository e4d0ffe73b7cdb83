// Drives the AI SDK (`ai`, `@ai-sdk/workflow`), unmodified, as `useChat` does: `node ai_sdk_client.mjs <case>`. The folder
// of the packages is in CLIENTS, the transport in TRANSPORT. Every line that it prints is a JSON object; the last one is
// the result.

import { pathToFileURL } from 'node:url'
import { createInterface } from 'node:readline'

const packages = pathToFileURL(`${process.env.CLIENTS}/node_modules/`).href
const {
  AbstractChat,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  readUIMessageStream,
  uiMessageChunkSchema,
} = await import(`${packages}ai/dist/index.js`)
const { WorkflowChatTransport } = await import(`${packages}@ai-sdk/workflow/dist/client.js`)

const { BASE_URL, API_KEY, TRANSPORT } = process.env
const headersOf = (key) => (key ? { Authorization: `Bearer ${key}` } : {})
const headers = headersOf(API_KEY)
const say = (what) => console.log(JSON.stringify(what))
const chatId = process.env.CHAT ?? 'chat-1'

// What `useChat` keeps in React, without React.
class State {
  status = 'ready'
  error = undefined
  messages = []
  pushMessage = (message) => {
    this.messages = [...this.messages, message]
  }
  popMessage = () => {
    this.messages = this.messages.slice(0, -1)
  }
  replaceMessage = (index, message) => {
    this.messages = this.messages.map((each, n) => (n === index ? structuredClone(message) : each))
  }
  snapshot = (value) => structuredClone(value)
}

class Chat extends AbstractChat {
  constructor(options) {
    super({ state: new State(), id: chatId, ...options })
  }
}

function transport(agent, headers) {
  if (TRANSPORT !== 'workflow') return new DefaultChatTransport({ api: `${BASE_URL}/api/ai/${agent}`, headers })
  const api = `${BASE_URL}/api/ai/${agent}/${chatId}`
  return new WorkflowChatTransport({
    api,
    maxConsecutiveErrors: 10_000,
    prepareSendMessagesRequest: ({ messages, trigger, messageId, body }) => ({ headers, body: { messages, trigger, messageId, ...body } }),
    prepareReconnectToStreamRequest: ({ api }) => ({ headers, api }),
  })
}

const chat = (agent = 'helper', options = {}) => new Chat({ transport: transport(agent, headers), ...options })
const text = (message) => message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
const tools = (message) =>
  message.parts.flatMap((part) =>
    part.type.startsWith('tool-')
      ? [{ type: part.type, state: part.state, input: part.input, output: part.output, error: part.errorText }]
      : [],
  )
function shown(each) {
  const message = each.lastMessage
  return {
    id: message.id,
    status: each.status,
    error: each.error?.message,
    messages: each.messages.length,
    text: text(message),
    parts: message.parts.map((part) => part.type),
    tools: tools(message),
    metadata: message.metadata,
    data: message.parts.filter((part) => part.type.startsWith('data-')),
  }
}

// Waits until the chat has stopped: the SDK sends results by itself after a stream has ended.
async function settled(each, isDone) {
  while (each.status === 'submitted' || each.status === 'streaming' || !isDone()) {
    if (each.status === 'error') break
    await new Promise((done) => setTimeout(done, 5))
  }
}

const body = {
  tools: [{ name: 'get_weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } }],
}

const cases = {
  async answer() {
    const each = chat()
    await each.sendMessage({ text: 'hello' })
    const first = shown(each)
    await each.sendMessage({ text: 'repeat' })
    say({ ...first, repeated: text(each.lastMessage) })
  },

  async tool() {
    const each = chat()
    await each.sendMessage({ text: 'look' })
    say(shown(each))
  },

  async approval() {
    const each = chat('helper', { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses })
    await each.sendMessage({ text: 'refund' })
    const part = each.lastMessage.parts.find((found) => found.state === 'approval-requested')
    if (!part) throw new Error(JSON.stringify(shown(each)))
    const asked = shown(each)
    const refused = chat()
    refused.messages = [...each.messages]
    await refused.sendMessage({ text: 'hello' })
    const approved = process.env.APPROVED !== 'false'
    await each.addToolApprovalResponse({ id: part.approval.id, approved, reason: approved ? undefined : 'too dear' })
    await settled(each, () => text(each.lastMessage) !== '')
    say({ asked, refused: refused.error.message, ...shown(each) })
  },

  // A message that is sent while an approval is open waits in the client.
  async queue() {
    const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses
    const each = chat('helper', { sendAutomaticallyWhen, experimental_queue: true })
    await each.sendMessage({ text: 'refund' })
    await each.sendMessage({ text: 'look' })
    const queued = each.experimental_queuedMessages.length
    const part = each.lastMessage.parts.find((each) => each.state === 'approval-requested')
    await each.addToolApprovalResponse({ id: part.approval.id, approved: true })
    await settled(each, () => each.messages.length === 4 && text(each.lastMessage) !== '')
    say({ queued, said: each.messages.map(text), error: each.error?.message })
  },

  async client_tool() {
    let calls = 0
    const each = chat('helper', {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: ({ toolCall }) => {
        calls += 1
        void each.addToolOutput({ tool: toolCall.toolName, toolCallId: toolCall.toolCallId, output: `rain in ${toolCall.input.city}` })
      },
    })
    await each.sendMessage({ text: 'weather' }, { body })
    await settled(each, () => text(each.lastMessage).includes('So'))
    say({ ...shown(each), calls })
  },

  // A question, a tool that the agent declares, a child run and a confirmation, each answered by the next request.
  async booking() {
    const answers = { 'tool-ask': { row: 12 }, 'tool-locate': 'Oslo' }
    const each = chat('airline')
    await each.sendMessage({ text: 'a seat' })
    const asked = []
    for (let n = 0; n < 3; n += 1) {
      const part = each.lastMessage.parts.findLast((found) => ['input-available', 'approval-requested'].includes(found.state))
      asked.push([part.type, part.input])
      if (part.approval) await each.addToolApprovalResponse({ id: part.approval.id, approved: true })
      else await each.addToolOutput({ tool: 'any', toolCallId: part.toolCallId, output: answers[part.type] })
      await each.sendMessage()
    }
    say({ ...shown(each), asked })
  },

  // A file for the agent, and one of the agent.
  async file() {
    const each = chat('viewer')
    const url = `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64')}`
    await each.sendMessage({ text: 'look', files: [{ type: 'file', mediaType: 'image/png', filename: 'a.png', url }] })
    const other = chat('printer', { id: `${chatId}-printer` })
    await other.sendMessage({ text: 'one' })
    const made = other.lastMessage.parts.find((part) => part.type === 'file')
    const bytes = await fetch(new URL(made.url, BASE_URL), { headers })
    say({ ...shown(each), made: [made.mediaType, await bytes.text()] })
  },

  async cancel() {
    const each = chat('helper', { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls })
    const sent = each.sendMessage({ text: 'endless' })
    const hasText = () => each.lastMessage?.role === 'assistant' && text(each.lastMessage).length > 4
    while (!hasText()) await new Promise((done) => setTimeout(done, 5))
    const stopped = await fetch(`${BASE_URL}/api/ai/helper/${chatId}/stop`, { method: 'POST', headers })
    await sent
    say({ stopped: await stopped.json(), ...shown(each), text: '' })
  },

  async error() {
    const each = chat()
    await each.sendMessage({ text: 'fail' })
    const failed = each.error.message
    const found = { failed, status: each.status }
    const unknown = chat('unknown')
    await unknown.sendMessage({ text: 'hello' })
    const file = chat()
    await file.sendMessage({ text: 'hello', files: [{ type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AA==' }] })
    const misspelled = chat()
    await misspelled.sendMessage({ text: 'hello' }, { body: { tolls: [] } })
    say({ ...found, unknown: unknown.error.message, file: file.error.message, misspelled: misspelled.error.message })
  },

  async key() {
    const wrong = new Chat({ transport: transport('helper', headersOf('wrong')) })
    await wrong.sendMessage({ text: 'hello' })
    const each = chat()
    await each.sendMessage({ text: 'hello' })
    say({ ...shown(each), denied: wrong.error.message })
  },

  async edit() {
    const each = chat()
    await each.sendMessage({ text: 'hello' })
    await each.sendMessage({ text: 'look' })
    await each.regenerate()
    const again = text(each.lastMessage)
    await each.sendMessage({ text: 'repeat', messageId: each.messages[2].id })
    say({ again, ...shown(each) })
  },

  // Follows an answer over connections that break; both transports resume by their own means.
  async resume() {
    const each = chat()
    let cuts = 0
    await each.sendMessage({ text: process.env.INPUT ?? 'count' })
    while (each.status === 'error') {
      cuts += 1
      say({ cut: each.error.message })
      await each.resumeStream()
    }
    say({ ...shown(each), cuts })
  },

  // Answers a question, a call of a tool and a confirmation, over connections that break.
  async book() {
    const answers = { 'tool-ask': { row: 12 }, 'tool-locate': 'Oslo' }
    const each = chat('airline')
    const sent = async (...given) => {
      await each.sendMessage(...given)
      while (each.status === 'error') await each.resumeStream()
    }
    await sent({ text: 'a seat' })
    const asked = []
    for (let n = 0; n < 3; n += 1) {
      const part = each.lastMessage.parts.findLast((found) => ['input-available', 'approval-requested'].includes(found.state))
      asked.push(part.type)
      if (part.approval) await each.addToolApprovalResponse({ id: part.approval.id, approved: true })
      else await each.addToolOutput({ tool: 'any', toolCallId: part.toolCallId, output: answers[part.type] })
      await sent()
    }
    const found = shown(each)
    say({ asked, text: found.text, parts: found.parts, tools: found.tools })
  },

  // Opens the page again: the messages are lost, the answer is not.
  async reload() {
    const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
    const first = chat('airline')
    await first.sendMessage({ text: 'a seat' })
    const answer = first.lastMessage.parts.findLast((part) => part.type === 'tool-ask')
    await first.addToolOutput({ tool: 'ask', toolCallId: answer.toolCallId, output: { row: 12 } })
    await first.sendMessage()
    say({ waits: true })
    await lines.next()
    const second = chat('airline')
    await second.resumeStream()
    const none = new Chat({ id: 'another', transport: new DefaultChatTransport({ api: `${BASE_URL}/api/ai/airline`, headers }) })
    await none.resumeStream()
    const tail = new WorkflowChatTransport({ api: `${BASE_URL}/api/ai/airline/${chatId}`, prepareReconnectToStreamRequest: ({ api }) => ({ headers, api }) })
    const kinds = []
    for await (const chunk of await tail.reconnectToStream({ chatId, startIndex: -4 })) kinds.push(chunk.type)
    say({ first: shown(first), second: shown(second), none: none.status, tail: kinds })
    lines.return?.()
    process.stdin.destroy()
  },

  // Reads random logs, one line of chunks each, with the SDK's own schema and its own reader.
  async laws() {
    const found = []
    for await (const line of createInterface({ input: process.stdin })) {
      const chunks = JSON.parse(line)
      for (const chunk of chunks) {
        const checked = await uiMessageChunkSchema().validate(chunk)
        if (!checked.success) throw new Error(`${JSON.stringify(chunk)} ${checked.error}`)
      }
      let message = { parts: [] }
      let error
      const stream = new ReadableStream({
        start(controller) {
          for (const chunk of chunks) controller.enqueue(chunk)
          controller.close()
        },
      })
      for await (const each of readUIMessageStream({ stream, onError: (broken) => (error = broken.message) })) message = each
      const attached = message.parts.filter(({ type }) => type === 'file' || type.startsWith('source-'))
      found.push({ text: text(message), tools: tools(message), error, attached })
    }
    say({ found })
  },
}

await cases[process.argv[2]]()
