import { createHash } from 'node:crypto';

// The form is fixed where keys are issued: admin.create_api_key in the database.
const form = /^sk_live_[0-9A-Za-z]{49}$/;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const checksumLength = 6;

/** Six Base62 characters from the first 48 bits of SHA-256, most significant first. */
function checksum(body: string): string {
  let rest = createHash('sha256').update(body).digest().readUIntBE(0, 6);
  let result = '';
  for (let place = 0; place < checksumLength; place++) {
    result = alphabet.charAt(rest % 62) + result;
    rest = Math.floor(rest / 62);
  }
  return result;
}

/** Whether a bearer token claims to be an API key, in whatever form. */
export const isApiKey = (token: string) => token.startsWith('sk_live_');

/** Whether a key can have been issued at all: tells a mistyped key without asking the database. */
export function isWellFormedApiKey(key: string): boolean {
  return form.test(key) && key.endsWith(checksum(key.slice(0, -checksumLength)));
}

/** SHA-256 in hex: what the database stores of a key, and what everything but the client is told of it. */
export const hashOfApiKey = (key: string) => createHash('sha256').update(key).digest('hex');
