import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { prettyLog } from '../log.ts';

test('formats the caller of a request in one line', async () => {
  const terminal = new PassThrough();
  const stream = prettyLog({ destination: terminal, sync: true });
  pino(stream).info({ caller: { via: 'jwt', id: 'ada' } }, 'listSounds 200');
  stream.end();
  expect(await text(terminal)).toMatch(/^[^\n]* INFO <jwt ada>: listSounds 200\n$/);
});
