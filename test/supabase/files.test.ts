import { randomUUID } from 'node:crypto';
import { expect, inject } from 'vitest';
import { addSound } from '../support/catalogue.ts';
import { storeFile } from '../support/files.ts';
import { startGateway } from '../support/gateway.ts';
import { startNetwork } from '../support/network.ts';
import { clientWith, test } from '../support/test.ts';

const audio_path = `${randomUUID()}.mp3`;
const item = (path: string, signedURL: string | null) => JSON.stringify([{ path, signedURL, error: null }]);

/** Responses of Storage to a signature of one file and of many, with the status of the gateway. */
const cases: [what: string, status: number, body: string, one: number, many: number][] = [
  ['that the file is missing', 400, '{"statusCode":"404","error":"not_found","message":"Object not found"}', 200, 500],
  ['404 with a web page', 404, '<h1>Not found</h1>', 500, 500],
  ['404 with the JSON of a proxy', 404, '{"message":"no Route matched with those values"}', 500, 500],
  ['404 without a body', 404, '', 500, 500],
  ['400 with a web page', 400, '<h1>Bad request</h1>', 500, 500],
  ['that the token is invalid', 400, '{"statusCode":"403","error":"Unauthorized","message":"jwt expired"}', 500, 500],
  ['200 with a web page', 200, '<h1>Welcome</h1>', 500, 500],
  ['an empty list', 200, '[]', 500, 500],
  ['a list without the file', 200, item('other.mp3', '/object/sign/audio/other.mp3'), 500, 500],
  ['a list in which the file is missing', 200, item(audio_path, null), 500, 200],
];

test.for(cases)(
  'a sound lacks its URL only if Storage does not find it: %s',
  async ([, status, body, one, many], { sql, user }) => {
    const network = await startNetwork(inject('stack').apiUrl, ({ path }) =>
      path.startsWith('/storage/') ? { status, body } : undefined,
    );
    const gateway = await startGateway({ SUPABASE_URL: network.url });
    const app = clientWith(gateway, user.access_token);
    await storeFile('audio', audio_path, 'audio/mpeg', 'some audio');
    const id = await addSound(sql, { audio_path });
    const detail = await app.get(`/sounds/${id}`);
    const signed = await app.post('/sounds/files').send({ ids: [id] });
    await gateway.close();
    expect([detail.status, signed.status]).toEqual([one, many]);
    if (one === 200) expect(detail.body.data.audio_url).toBeNull();
    if (many === 200) expect(signed.body.data).toEqual([{ id, is_locked: false, audio: null, cover: null }]);
  },
);
