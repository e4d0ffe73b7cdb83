// Drives the package `eventsource`, unmodified: `node eventsource_client.mjs <case>`. The folder of the package is in CLIENTS.
// Every line that it prints is a JSON object; the last one is the result.

import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const require = createRequire(`${process.env.CLIENTS}/package.json`)
const { EventSource } = await import(pathToFileURL(require.resolve('eventsource')).href)
const { BASE_URL, INPUT, API_KEY } = process.env
const NAMES = ['state', 'token', 'tool_start', 'tool_end', 'final', 'error', 'canceled']

const headersOf = (key) => (key ? { Authorization: `Bearer ${key}` } : {})
const withKey = (key) => ({ fetch: (url, options) => fetch(url, { ...options, headers: { ...options.headers, ...headersOf(key) } }) })

async function post(path, body) {
  const headers = { 'Content-Type': 'application/json', ...headersOf(API_KEY) }
  const answer = await fetch(BASE_URL + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return answer.json()
}

async function ask(content) {
  const { thread_id } = await post('/api/threads', { agent: 'helper' })
  return (await post(`/api/threads/${thread_id}/messages`, { content })).run_id
}

const closed = (source) =>
  new Promise((resolve) => {
    source.addEventListener('error', ({ code, message }) => source.readyState === EventSource.CLOSED && resolve({ code, message }))
  })

const cases = {
  async key() {
    const address = `${BASE_URL}/api/runs/${await ask('hello')}/events`
    const denied = (await closed(new EventSource(address, withKey('wrong')))).code
    const source = new EventSource(address, withKey(API_KEY))
    let text = ''
    source.addEventListener('final', ({ data }) => (text = JSON.parse(data).text))
    await closed(source)
    console.log(JSON.stringify({ denied, text }))
  },

  // Follow a run until the server says that nothing more comes (204).
  async follow() {
    const run_id = await ask(INPUT)
    console.log(JSON.stringify({ run: run_id }))
    const source = new EventSource(`${BASE_URL}/api/runs/${run_id}/events`)
    const found = { ids: [], names: [], opened: 0 }
    const texts = new Map() // by id: text that a killed worker wrote is taken back
    source.onopen = () => (found.opened += 1)
    for (const name of NAMES) {
      source.addEventListener(name, (event) => {
        if (event.data === undefined) return // an error of the connection, not of the run
        found.ids.push(Number(event.lastEventId))
        found.names.push(name)
        const data = JSON.parse(event.data)
        if (name === 'token') texts.set(Number(event.lastEventId), data.text)
        if (data.reset) for (const id of texts.keys()) if (id > data.after) texts.delete(id)
        if (name === 'final') found.final = data.text
        if (name === 'error' || name === 'canceled') found.end = data
      })
    }
    found.status = (await closed(source)).code
    console.log(JSON.stringify({ run: run_id, text: [...texts.values()].join(''), ...found }))
  },
}

setInterval(() => {}, 1000) // the timer with which the package reconnects does not keep Node running
await cases[process.argv[2]]()
process.exit(0)
