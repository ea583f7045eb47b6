import { expect } from 'vitest';

/** Credentials and e-mail addresses exchanged with gateways, by test file, because files share a worker. */
const usedIn = new Map<string, Set<string>>();

function used(): Set<string> {
  const file = expect.getState().testPath ?? '';
  const secrets = usedIn.get(file) ?? new Set();
  usedIn.set(file, secrets);
  return secrets;
}

/** Records a secret of at least 8 characters. Shorter ones may be in a log by chance. */
export function noteSecret(value: unknown) {
  if (typeof value === 'string' && value.length >= 8) used().add(value);
}

const secret = /^(email|(current_)?password|(refresh|access|id)_token|nonce)$/;

/** Records the secret fields of a body that was sent or received. */
export function noteSecretsOf(body: unknown) {
  if (typeof body !== 'object') return;
  for (const [name, value] of Object.entries(body ?? {})) if (secret.test(name)) noteSecret(value);
}

/** Expects that a log contains no recorded secret. Called when a gateway is closed. */
export function expectNoSecretIn(log: string) {
  for (const secret of used()) expect(log.includes(secret), `the log contains the secret ${secret}`).toBe(false);
}
