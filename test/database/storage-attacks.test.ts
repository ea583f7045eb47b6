import { randomUUID } from 'node:crypto';
import { expect, inject } from 'vitest';
import { test } from '../support/test.ts';

// Attacks Storage directly with a user's access token and the publishable key. Only the service may sign addresses.

/** Calls Storage. @param caller a user's token, null for a visitor, or 'service' */
async function storage(caller: string | null, method: string, path: string, body?: string | object, type?: string) {
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

test.for(['a user', 'a visitor'])('%s reads, signs and changes no file and no bucket', async (who, { sql, user }) => {
  const name = `attacks/${randomUUID()}`;
  const [audio, cover, mine] = [`${name}.mp3`, `${name}.png`, `${name}-mine`];
  for (const [path, type] of [
    [`audio/${audio}`, 'audio/mpeg'],
    [`covers/${cover}`, 'image/png'],
  ] as const)
    expect((await storage('service', 'POST', `object/${path}`, 'original', type)).status).toBe(200);

  const bucket = `mine-${randomUUID()}`;
  for (const [method, path, body, type] of [
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
    ['POST', 'bucket', { id: bucket, name: bucket, public: true }],
    ['PUT', 'bucket/audio', { public: true }],
    ['POST', 'bucket/audio/empty', {}],
    ['DELETE', 'bucket/audio'],
  ] as const) {
    const attack = await storage(who === 'a user' ? user.access_token : null, method, path, body, type);
    const told = `${method} ${path}: ${attack.status} ${attack.text}`;
    // Storage answers some attacks with an empty list of found or deleted files.
    if (attack.status < 400) expect(attack.text, told).toMatch(/^\[\]$|"signedURL":null/);
    expect(attack.text, told).not.toMatch(/token=|original/);
  }

  for (const path of [`audio/${audio}`, `covers/${cover}`]) {
    expect((await storage('service', 'GET', `object/authenticated/${path}`)).text, path).toBe('original');
  }
  const listed = await storage('service', 'POST', 'object/list/audio', { prefix: 'attacks' });
  expect(listed.text).not.toBe('[]');
  const made = await sql`
    select name from storage.objects where name like ${`${mine}%`}
    union all select id from storage.buckets where id = ${bucket} or id = 'audio' and public`;
  expect(made).toEqual([]);
});
