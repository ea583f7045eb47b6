import { compactVerify } from 'jose';
import { resolveKey } from './access.ts';
import { restError } from './rest-errors.ts';
import { verifyingKey } from './user-tokens.ts';

export type Claims = Record<string, unknown> & { role: string };

// PostgREST accepts clocks that differ by 30 s.
const leewaySeconds = 30;

/**
 * Returns the claims of a data request: of its token, verified as PostgREST does, or else of its API key.
 * @throws HTTPException
 */
export async function claimsOf(headers: Headers): Promise<Claims> {
  const token = headers.get('authorization')?.match(/^Bearer(?:\s+(.*))?$/i);
  if (!token || token[1]?.startsWith('sb_')) {
    const key = await resolveKey(headers.get('apikey') ?? '');
    return { role: 'anon', ...key?.claims };
  }
  const claims = await verified(token[1] ?? '');
  for (const [name, isWrong, message] of timeClaims) {
    const time = claims[name];
    if (typeof (time ?? 0) !== 'number') throw invalidToken('PGRST303', `The JWT '${name}' claim must be a number`);
    // PostgREST reads a time with a fraction as 0.
    const seconds = Number.isInteger(time) ? Number(time) : 0;
    if (time != null && isWrong(seconds, Math.floor(Date.now() / 1000))) throw invalidToken('PGRST303', message);
  }
  const { role = 'anon' } = claims;
  return { ...claims, role: typeof role === 'string' ? role : JSON.stringify(role) };
}

const timeClaims: [string, (time: number, now: number) => boolean, string][] = [
  ['exp', (time, now) => time < now - leewaySeconds, 'JWT expired'],
  ['iat', (time, now) => time > now + leewaySeconds, 'JWT issued at future'],
];

async function verified(token: string): Promise<Record<string, unknown>> {
  const { payload } = await compactVerify(token, verifyingKey).catch(() => {
    const details = 'None of the keys was able to decode the JWT';
    throw invalidToken('PGRST301', 'No suitable key or wrong key type', details);
  });
  return JSON.parse(new TextDecoder().decode(payload));
}

function invalidToken(code: string, message: string, details?: string) {
  const challenge = `Bearer error="invalid_token", error_description="${message}"`;
  return restError(401, code, message, { details, headers: { 'WWW-Authenticate': challenge } });
}
