import { createServer } from 'node:http';
import { answers } from './canned.ts';

// A Supabase that answers canned bytes. PORT: where it listens. DELAY_MS: after how long it answers.
// EXACT: for one caller at a time. A timer is good to a millisecond only, and may hide what the gateway adds to it.

const delayMs = Number(process.env['DELAY_MS'] ?? 2);
const exact = process.env['EXACT'] !== undefined;
const bodies = new Map(
  Object.entries(answers).map(([path, body]) => [path, Buffer.from(JSON.stringify(body))]),
);
/** In milliseconds; longer than a connection waits for its next round. */
const keepAliveTimeout = 75_000;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

createServer({ keepAliveTimeout }, (req, res) => {
  const due = performance.now() + delayMs;
  const body = bodies.get(req.url ?? '');
  const answer = () => {
    if (exact) Atomics.wait(sleeper, 0, 0, Math.max(0, due - performance.now()));
    if (body === undefined)
      res.writeHead(204).end(); // a function that returns nothing
    else
      res
        .writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length })
        .end(body);
  };
  req.resume().on('end', () => setTimeout(answer, exact ? 1 : delayMs));
}).listen(Number(process.env['PORT']), '127.0.0.1');
