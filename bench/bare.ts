import express from 'express';
import { answers } from './canned.ts';
import { callDirectly, createAgent, personal } from './targets.ts';

// The yardstick: Express alone. It sends the bytes of the catalogue reads, and makes the upstream calls of the other
// endpoints with undici, without anything that the gateway does besides.

const url = process.env['SUPABASE_URL'] ?? '';
const agent = createAgent();
const app = express();

const lists = {
  '/home': { sections: answers['/rest/v1/rpc/list_home_sections'] },
  '/sounds': answers['/rest/v1/rpc/list_sounds'],
  '/categories': { data: answers['/rest/v1/rpc/list_categories'] },
};
for (const [path, body] of Object.entries(lists)) {
  const text = JSON.stringify(body);
  app.get(`/api/v1${path}`, (_req, res) => {
    res.type('json').send(text);
  });
}

for (const target of personal()) {
  app[target.method === 'GET' ? 'get' : 'post'](`/api/v1${target.path}`, async (req, res) => {
    const token = req.headers.authorization?.slice('Bearer '.length) ?? '';
    res.json({ data: await callDirectly(url, target, token, agent) });
  });
}

// Connections wait for their next round for longer than Node's own 5 seconds.
app.listen(Number(process.env['PORT']), '127.0.0.1').keepAliveTimeout = 75_000;
