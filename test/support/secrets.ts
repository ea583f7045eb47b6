import { expect } from 'vitest';

const fields = [
  'email',
  'password',
  'current_password',
  'refresh_token',
  'access_token',
  'id_token',
  'nonce',
] as const;

/** Every credential and e-mail address that was exchanged with a gateway, by test file: files share a worker. */
const usedIn = new Map<string, Set<string>>();

function used(): Set<string> {
  const file = expect.getState().testPath ?? '';
  const secrets = usedIn.get(file) ?? new Set();
  usedIn.set(file, secrets);
  return secrets;
}

/** Shorter ones may be in a log by chance. */
const shortest = 8;

export function noteSecret(value: unknown) {
  if (typeof value === 'string' && value.length >= shortest) used().add(value);
}

/** Notes the secret fields of a body that was sent or received. */
export function noteSecretsOf(body: unknown) {
  if (typeof body !== 'object' || body === null) return;
  for (const field of fields) noteSecret((body as Record<string, unknown>)[field]);
}

/** Called for every gateway when it is closed. */
export function expectNoSecretIn(log: string) {
  for (const secret of used()) expect(log.includes(secret), `the log holds the secret ${secret}`).toBe(false);
}
