import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { jwtVerify } from 'jose';
import { makeIdToken } from './identity-provider.ts';

/** Longest lifetime of a client secret that Apple accepts, in seconds. */
const secretMaxSeconds = 15_777_000;

type Form = Record<string, string>;

interface Answer {
  status: number;
  body?: object;
}

const fault = (error: string): Answer => ({ status: 400, body: { error } });

/** Creates an emulator of Apple with a separate team. It exchanges codes at `/auth/token` and revokes tokens at `/auth/revoke`. */
function createApple() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const team = { teamId: 'TEAM567890', keyId: 'KEY4567890', clientIds: ['com.example.sounds', 'com.example.web'] };
  const usedCodes = new Set<string>();
  const tokens = new Set<string>();

  async function isClient({ client_id = '', client_secret = '' }: Form): Promise<boolean> {
    const rules = {
      algorithms: ['ES256'],
      issuer: team.teamId,
      subject: client_id,
      audience: 'https://appleid.apple.com',
    };
    const verified = await jwtVerify(client_secret, publicKey, rules).catch(() => null);
    if (verified === null || !team.clientIds.includes(client_id)) return false;
    const { iat = 0, exp = Infinity } = verified.payload;
    return verified.protectedHeader.kid === team.keyId && exp - iat <= secretMaxSeconds;
  }

  async function exchange({ code = '', client_id }: Form): Promise<Answer> {
    const [, email] = /^dev-([^#]+)/.exec(code) ?? [];
    if (email === undefined || usedCodes.has(code)) return fault('invalid_grant');
    usedCodes.add(code);
    const refresh_token = `refresh-token-of-${code}`;
    tokens.add(refresh_token);
    const id_token = await makeIdToken({ provider: 'apple', email, claims: { aud: client_id } });
    const access_token = `access-token-of-${code}`;
    return { status: 200, body: { access_token, token_type: 'Bearer', expires_in: 3600, refresh_token, id_token } };
  }

  async function answerTo(path: string, form: Form): Promise<Answer> {
    if (!(await isClient(form))) return fault('invalid_client');
    if (path === '/auth/token') return exchange(form);
    if (path !== '/auth/revoke') return { status: 404 };
    tokens.delete(form['token'] ?? '');
    return { status: 200 }; // also for an unknown token
  }

  return {
    answerTo,
    team,
    /** Key of the team as in its .p8 file. */
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey,
    /** Refresh tokens that were issued and not revoked. */
    tokens,
  };
}

/**
 * Starts an emulator of https://appleid.apple.com on a free port of 127.0.0.1, with a separate team. The code
 * `dev-ada@example.com` belongs to the user whose ID tokens have this address. It is valid once;
 * `dev-ada@example.com#2` is another code of this user.
 */
export async function startSmallApple() {
  const { answerTo, ...apple } = createApple();
  /** Requests so far, with their form. */
  const requests: { path: string; form: Form }[] = [];

  const server = createServer(async (req, res) => {
    const path = req.url ?? '';
    const form = Object.fromEntries(new URLSearchParams(await text(req)));
    requests.push({ path, form });
    const { status, body } = await answerTo(path, form);
    res.writeHead(status, { 'Content-Type': 'application/json' }).end(body && JSON.stringify(body));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  server.unref();
  return {
    ...apple,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => void server.close().closeAllConnections(),
  };
}

export type SmallApple = Awaited<ReturnType<typeof startSmallApple>>;
