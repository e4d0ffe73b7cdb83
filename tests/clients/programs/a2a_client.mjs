// Drives `@a2a-js/sdk`, unmodified: `node a2a_client.mjs <case>`. The folder of the package is in CLIENTS.
// Every line that it prints is a JSON object; the last one is the result.

import { createRequire } from 'node:module'
import { randomUUID } from 'node:crypto'

const require = createRequire(`${process.env.CLIENTS}/package.json`)
const { ClientFactory, ClientFactoryOptions, RestTransportFactory, JsonRpcTransportFactory, createAuthenticatingFetchWithRetry } = require('@a2a-js/sdk/client')
const { Role, TaskState } = require('@a2a-js/sdk')
const { BASE_URL, BINDING } = process.env
const say = (what) => console.log(JSON.stringify(what))
const BINDINGS = ['JSONRPC', 'HTTP+JSON']

async function connect(binding, agent = 'helper', more = {}) {
  const transports = [binding === 'JSONRPC' ? new JsonRpcTransportFactory(more) : new RestTransportFactory(more)]
  const factory = new ClientFactory({ ...ClientFactoryOptions.default, transports, preferredTransports: [binding] })
  return factory.createFromUrl(`${BASE_URL}/a2a/${agent}/`)
}

const part = ($case, value, more = {}) => ({ content: { $case, value }, metadata: undefined, filename: '', mediaType: '', ...more })

function message(parts, { taskId = '', contextId = '', messageId = randomUUID() } = {}) {
  const made = parts.map((each) => (typeof each === 'string' ? part('text', each) : each))
  const rest = { metadata: undefined, extensions: [], referenceTaskIds: [] }
  return { tenant: '', message: { messageId, role: Role.ROLE_USER, parts: made, taskId, contextId, ...rest }, configuration: undefined, metadata: undefined }
}

const texts = (parts) => parts.flatMap((each) => (each.content?.$case === 'text' ? [each.content.value] : []))
const name = (status) => TaskState[status.state].replace('TASK_STATE_', '')

// Builds a task from a stream.
class Reader {
  artifacts = {}
  kinds = []
  states = []
  data = [] // names of the data that came with the states

  async read(stream) {
    for await (const { payload } of stream) this.take(payload.$case, payload.value)
    return this
  }

  take(kind, value) {
    this.kinds.push(kind)
    if (kind === 'task') {
      this.task = value
      this.artifacts = Object.fromEntries(value.artifacts.map((each) => [each.artifactId, [...each.parts]]))
    } else if (kind === 'statusUpdate') {
      this.task.status = value.status
      const parts = value.status.message?.parts ?? []
      this.data.push(...parts.flatMap((each) => (each.content?.$case === 'data' ? Object.keys(each.content.value) : [])))
      if (this.states.at(-1) !== name(value.status)) this.states.push(name(value.status))
    } else {
      const { artifactId, parts } = value.artifact
      this.artifacts[artifactId] = value.append ? [...this.artifacts[artifactId], ...parts] : [...parts]
    }
  }

  get text() {
    return texts(this.artifacts.answer ?? []).join('')
  }

  get state() {
    return name(this.task.status)
  }

  get asked() {
    return texts(this.task.status.message?.parts ?? [])
  }
}

async function refused(promise) {
  try {
    await promise
  } catch (error) {
    return error.cause?.name ?? error.name
  }
}

const follow = (client, ...given) => new Reader().read(client.sendMessageStream(message(...given)))

// Sends a message and follows its task until it ends or asks, over connections that break: subscribes again, and reads
// the task if it has ended meanwhile. Returns the number of cuts.
async function followed(client, found, ...given) {
  let stream = client.sendMessageStream(message(...given))
  for (let cuts = 0; ; ) {
    try {
      for await (const { payload } of stream) {
        found.take(payload.$case, payload.value)
        if (['COMPLETED', 'FAILED', 'INPUT_REQUIRED'].includes(found.state)) return cuts
      }
    } catch (broken) {
      if ((broken.cause?.name ?? broken.name) === 'UnsupportedOperationError') {
        found.take('task', await client.getTask({ tenant: '', id: found.task.id }))
        return cuts
      }
    }
    say({ cut: (cuts += 1) })
    stream = client.resubscribeTask({ tenant: '', id: found.task.id })
  }
}

const flows = {
  async answer(binding) {
    const client = await connect(binding)
    const first = await follow(client, ['hello'])
    const second = await client.sendMessage(message(['repeat'], { contextId: first.task.contextId }))
    const kept = await client.getTask({ tenant: '', id: first.task.id, historyLength: undefined })
    const { tasks } = await client.listTasks({ tenant: '', contextId: first.task.contextId, status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '', includeArtifacts: true })
    return {
      text: first.text,
      states: first.states,
      kept: kept.artifacts.map((each) => texts(each.parts)),
      repeated: second.artifacts.flatMap((each) => texts(each.parts)),
      listed: tasks.map((each) => each.id === first.task.id).sort(),
    }
  },

  async approval(binding) {
    const client = await connect(binding)
    const asked = await follow(client, ['refund'])
    const taskId = asked.task.id
    const before = [asked.state, asked.asked]
    const wrong = await refused(client.sendMessage(message(['perhaps'], { taskId })))
    const told = await follow(client, [part('data', { approved: true })], { taskId })
    return { asked: before, wrong, told: [told.kinds[0], told.state, told.text] }
  },

  async tool(binding) {
    const found = await follow(await connect(binding), ['look'])
    return { text: found.text, kinds: found.data }
  },

  // A question, a tool of the client and a confirmation.
  async booking(binding) {
    const client = await connect(binding, 'airline')
    let found = await follow(client, ['a seat'])
    const asked = []
    for (const answer of [{ row: 12 }, 'Oslo', { approved: true }]) {
      asked.push(found.asked)
      const given = typeof answer === 'string' ? answer : part('data', answer)
      found = await follow(client, [given], { taskId: found.task.id })
    }
    return { asked, state: found.state, text: found.text }
  },

  async file(binding) {
    const image = part('raw', Buffer.from('iVBORw0KGgo=', 'base64'), { mediaType: 'image/png', filename: 'a.png' })
    return { seen: (await follow(await connect(binding, 'viewer'), ['look', image])).text }
  },

  async cancel(binding) {
    const client = await connect(binding)
    const found = new Reader()
    let canceled
    for await (const { payload } of client.sendMessageStream(message(['endless']))) {
      found.take(payload.$case, payload.value)
      if (found.artifacts.answer?.length === 3) canceled ??= await client.cancelTask({ tenant: '', id: found.task.id, metadata: undefined })
    }
    return { state: found.state, canceled: name(canceled.status) }
  },

  async error(binding) {
    const client = await connect(binding)
    const failed = await follow(client, ['fail'])
    const id = failed.task.id
    return {
      failed: [failed.state, failed.asked],
      unknown: await refused(client.getTask({ tenant: '', id: 'unknown' })),
      ended: await refused(new Reader().read(client.resubscribeTask({ tenant: '', id }))),
      canceled: await refused(client.cancelTask({ tenant: '', id, metadata: undefined })),
    }
  },
}

const cases = {
  async everything() {
    const one = async (binding) => {
      const found = await Promise.all(Object.entries(flows).map(async ([key, flow]) => [key, await flow(binding)]))
      return [binding, Object.fromEntries(found)]
    }
    say(Object.fromEntries(await Promise.all(BINDINGS.map(one))))
  },

  // Sends a key with the library's own wrapper of `fetch`: a wrong one, then the right one.
  async key() {
    const keyed = (key) => {
      const handler = { headers: async () => ({ Authorization: `Bearer ${key}` }), shouldRetryWithHeaders: async () => undefined }
      return connect(BINDING, 'helper', { fetchImpl: createAuthenticatingFetchWithRetry(fetch, handler) })
    }
    let denied
    try {
      await follow(await keyed('wrong'), ['hello'])
    } catch (error) {
      denied = error.message
    }
    say({ denied, text: (await follow(await keyed(process.env.API_KEY), ['hello'])).text })
  },

  async resubscribe() {
    const client = await connect(BINDING)
    const found = new Reader()
    const cuts = await followed(client, found, [process.env.INPUT ?? 'slowly'])
    say({ text: found.text, cuts, state: found.state, kinds: found.kinds })
  },

  // Answers a question, a call of a tool and a confirmation, over connections that break.
  async book() {
    const client = await connect(BINDING, 'airline')
    const found = new Reader()
    const asked = []
    await followed(client, found, ['a seat'])
    for (const answer of [part('data', { row: 12 }), 'Oslo', part('data', { approved: true })]) {
      asked.push(found.asked)
      await followed(client, found, [answer], { taskId: found.task.id })
    }
    say({ asked, text: found.text, state: found.state })
  },
}

await cases[process.argv[2]]()
