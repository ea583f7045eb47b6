import { randomUUID } from 'node:crypto';
import { expect, inject } from 'vitest';
import { type Session, test } from '../support/test.ts';

// Attacks on Storage itself with a user's access token and the publishable key: only the service may sign addresses.

type Body = string | object;

/** Calls Storage; `caller` is a user's token, null for a guest, or 'service'. */
async function storage(caller: string | null, method: string, path: string, body?: Body, type?: string) {
  const { apiUrl, publishableKey, secretKey } = inject('stack');
  const apikey = caller === 'service' ? secretKey : publishableKey;
  const token = caller === null || caller === 'service' ? apikey : caller;
  const response = await fetch(`${apiUrl}/storage/v1/${path}`, {
    method,
    headers: {
      apikey,
      Authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'Content-Type': type ?? 'application/json' }),
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

async function uploadFiles() {
  const [audio, cover] = [`attacks/${randomUUID()}.mp3`, `attacks/${randomUUID()}.png`];
  for (const [path, type] of [
    [`audio/${audio}`, 'audio/mpeg'],
    [`covers/${cover}`, 'image/png'],
  ] as const) {
    expect((await storage('service', 'POST', `object/${path}`, 'original', type)).status).toBe(200);
  }
  return { audio, cover };
}

const callers = [
  ['a user', ({ access_token }: Session) => access_token],
  ['a guest', () => null],
] as const;

for (const [who, tokenOf] of callers) {
  test(`${who} cannot list, download or sign a recording that exists`, async ({ user }) => {
    const { audio } = await uploadFiles();
    for (const [method, path, body] of [
      ['GET', 'bucket'],
      ['GET', 'bucket/audio'],
      ['POST', 'object/list/audio', { prefix: 'attacks' }],
      ['POST', 'object/list/covers', { prefix: 'attacks' }],
      ['POST', `object/sign/audio/${audio}`, { expiresIn: 315_360_000 }],
      ['POST', 'object/sign/audio', { expiresIn: 60, paths: [audio] }],
      ['GET', `object/audio/${audio}`],
      ['GET', `object/authenticated/audio/${audio}`],
      ['GET', `object/public/audio/${audio}`],
      ['GET', `object/info/audio/${audio}`],
    ] as const) {
      const attack = await storage(tokenOf(user), method, path, body);
      // Storage says "none" or "not found", and nothing that helps.
      const told = `${method} ${path}: ${attack.status} ${attack.text}`;
      if (attack.status < 400) expect(attack.text, told).toMatch(/^\[\]$|"signedURL":null/);
      expect(attack.text, told).not.toMatch(/token=|original/);
    }
    for (const path of ['object/list/audio', 'object/list/covers']) {
      expect((await storage('service', 'POST', path, { prefix: 'attacks' })).text).not.toBe('[]');
    }
    expect((await storage('service', 'GET', `object/authenticated/audio/${audio}`)).text).toBe('original');
  });

  test(`${who} cannot upload, replace, move, copy or delete anything`, async ({ sql, user }) => {
    const { audio, cover } = await uploadFiles();
    const mine = `attacks/${randomUUID()}`;
    for (const [method, path, body, type] of [
      ['POST', `object/audio/${mine}.mp3`, 'mine', 'audio/mpeg'],
      ['POST', `object/covers/${mine}.png`, 'mine', 'image/png'],
      ['POST', `object/upload/sign/audio/${mine}.mp3`, {}],
      ['PUT', `object/audio/${audio}`, 'mine', 'audio/mpeg'],
      ['PUT', `object/covers/${cover}`, 'mine', 'image/png'],
      ['POST', 'object/move', { bucketId: 'audio', sourceKey: audio, destinationKey: `${mine}.mp3` }],
      ['POST', 'object/copy', { bucketId: 'audio', sourceKey: audio, destinationKey: `${mine}.mp3` }],
      ['DELETE', `object/audio/${audio}`],
      ['DELETE', 'object/audio', { prefixes: [audio] }],
      ['DELETE', 'object/covers', { prefixes: [cover] }],
      ['POST', 'bucket', { id: `mine-${randomUUID()}`, name: `mine-${randomUUID()}`, public: true }],
      ['PUT', 'bucket/audio', { public: true }],
      ['POST', 'bucket/audio/empty', {}],
      ['DELETE', 'bucket/audio'],
    ] as const) {
      const attack = await storage(tokenOf(user), method, path, body, type);
      const told = `${method} ${path}: ${attack.status} ${attack.text}`;
      // Deleting a list answers with those that were deleted.
      if (attack.status < 400) expect(attack.text, told).toBe('[]');
    }
    for (const path of [`audio/${audio}`, `covers/${cover}`]) {
      const { text } = await storage('service', 'GET', `object/authenticated/${path}`);
      expect(text, path).toBe('original');
    }
    const made = await sql`select name from storage.objects where name like ${`${mine}%`}`;
    const opened =
      await sql`select id from storage.buckets where id like 'mine-%' or id = 'audio' and public`;
    expect([...made, ...opened]).toEqual([]);
  });
}
