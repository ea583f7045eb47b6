import { expect } from 'vitest';

/** Every credential and e-mail address that was exchanged with a gateway, by test file: files share a worker. */
const usedIn = new Map<string, Set<string>>();

function used(): Set<string> {
  const file = expect.getState().testPath ?? '';
  const secrets = usedIn.get(file) ?? new Set();
  usedIn.set(file, secrets);
  return secrets;
}

/** Notes a secret of at least 8 characters: shorter ones may be in a log by chance. */
export function noteSecret(value: unknown) {
  if (typeof value === 'string' && value.length >= 8) used().add(value);
}

const secret = /^(email|(current_)?password|(refresh|access|id)_token|nonce)$/;

/** Notes the secret fields of a body that was sent or received. */
export function noteSecretsOf(body: unknown) {
  for (const [name, value] of Object.entries(body ?? {})) if (secret.test(name)) noteSecret(value);
}

/** Called for every gateway when it is closed. */
export function expectNoSecretIn(log: string) {
  for (const secret of used()) expect(log.includes(secret), `the log holds the secret ${secret}`).toBe(false);
}
