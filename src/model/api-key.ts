import { createHash } from 'node:crypto';

// admin.create_api_key in the database issues keys of this form.
const form = /^sk_live_[0-9A-Za-z]{49}$/;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const checksumLength = 6;

/** Returns six Base62 characters from the first 48 bits of SHA-256, most significant first. */
function checksum(body: string): string {
  let rest = createHash('sha256').update(body).digest().readUIntBE(0, 6);
  let result = '';
  for (let place = 0; place < checksumLength; place++) {
    result = alphabet.charAt(rest % 62) + result;
    rest = Math.floor(rest / 62);
  }
  return result;
}

/** Tells whether a bearer token is meant as an API key. */
export const isApiKey = (token: string) => token.startsWith('sk_live_');

/** Checks the checksum of a key, to detect a mistyped key without a query. */
export function isWellFormedApiKey(key: string): boolean {
  return form.test(key) && key.endsWith(checksum(key.slice(0, -checksumLength)));
}

/** Returns the SHA-256 of a key in hex, as the database stores it. Only the client knows the key itself. */
export const hashOfApiKey = (key: string) => createHash('sha256').update(key).digest('hex');
