import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

// Supabase that answers each call after 2 ms, with the examples of openapi.json. GET /calls returns the number of calls
// of each function since the last GET /calls.

interface Schema {
  $ref?: string;
  properties?: object;
  items?: Schema;
  examples?: unknown[];
  enum?: unknown[];
}

const { components } = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));
const example = (name: string) => exampleOf(components.schemas[name]);
const list = (length: number, name: string) => Array.from({ length }, () => example(name));

function exampleOf({ $ref, properties, items, examples, enum: values }: Schema): unknown {
  if ($ref) return example($ref.replace(/.*\//, ''));
  if (items && !examples) return Array.from({ length: 12 }, () => exampleOf(items));
  if (!properties) return (examples ?? values)?.[0];
  const entries = Object.entries(properties);
  return Object.fromEntries(entries.map(([key, value]) => [key, key === 'id' ? randomUUID() : exampleOf(value)]));
}

const signed = { signedURL: `/object/sign/bowls/c4?token=${'t'.repeat(220)}` };
const page = { data: list(50, 'Sound'), next_cursor: '2026-06-23T09:30:00.000Z' };
const file = (path: string) => ({ path, version: 'd41d8cd98f00b204', content_type: 'audio/mp4', bytes: 1_048_576 });
const signedMany = (kind: string) =>
  Array.from({ length: 12 }, (_, n) => ({
    path: `${n}.${kind}`,
    signedURL: `/object/sign/${n}.${kind}?token=${'t'.repeat(220)}`,
    error: null,
  }));
const answers = {
  '/rest/v1/rpc/list_home_sections': list(4, 'HomeSection'),
  '/rest/v1/rpc/list_sounds': page,
  '/rest/v1/rpc/list_categories': list(3, 'Category'),
  '/rest/v1/rpc/list_catalogue_changes': {
    data: list(100, 'CatalogueChange'),
    next: '9f86d081.1289',
    has_more: false,
    reset: false,
  },
  '/rest/v1/rpc/list_sound_files': Array.from({ length: 12 }, (_, n) => ({
    id: randomUUID(),
    audio: file(`${n}.m4a`),
    cover: file(`${n}.jpg`),
    is_locked: false,
  })),
  '/storage/v1/object/sign/audio': signedMany('m4a'),
  '/storage/v1/object/sign/covers': signedMany('jpg'),
  '/rest/v1/rpc/get_customer': example('Customer'),
  '/rest/v1/rpc/list_favorites': list(12, 'Favorite'),
  '/rest/v1/rpc/get_sound': {
    ...Object(example('Sound')),
    audio_path: 'c4.m4a',
    cover_image_path: 'c4.jpg',
    is_locked: false,
  },
  '/rest/v1/rpc/count_play': { id: randomUUID(), play_count: 1_290 },
  '/rest/v1/rpc/touch_last_seen': true,
  '/rest/v1/rpc/missing_functions': [],
  '/storage/v1/object/sign/audio/c4.m4a': signed,
  '/storage/v1/object/sign/covers/c4.jpg': signed,
};
const bodies = new Map(Object.entries(answers).map(([path, answer]) => [path, JSON.stringify(answer)]));

let calls: Record<string, number> = {};

const delayMs = 2;
const sleeper = new Int32Array(new SharedArrayBuffer(4));
let inFlight = 0;

createServer({ keepAliveTimeout: 75_000 }, (req, res) => {
  const [path = ''] = (req.url ?? '').split('?', 1);
  const body = bodies.get(path);
  const send = (status: number, text: string) =>
    res.writeHead(status, { 'Content-Type': 'application/json' }).end(text);
  if (path === '/calls') {
    send(200, JSON.stringify(calls));
    calls = {};
    return;
  }
  const name = path.replace(/^\/(rest\/v1\/rpc|storage\/v1\/object)\//, '').replace(/^sign\/.*/, 'sign');
  calls[name] = (calls[name] ?? 0) + 1;
  const due = performance.now() + delayMs;
  inFlight++;
  const answer = () => {
    // Timers round to whole milliseconds, so a lone request sleeps for the rest.
    if (inFlight === 1) Atomics.wait(sleeper, 0, 0, due - performance.now());
    inFlight--;
    send(body === undefined ? 404 : 200, body ?? '{"code":"PGRST202"}');
  };
  req.resume().on('end', () => setTimeout(answer, inFlight === 1 ? delayMs - 1 : delayMs));
}).listen(Number(process.env['PORT']), '127.0.0.1');
