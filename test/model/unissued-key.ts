import { createHash } from 'node:crypto';

/** Returns a well-formed key that was never issued: a different one for each number below 1000. */
export function unissuedKey(number = 0): string {
  const body = `sk_live_${'0123456789'.repeat(4)}${String(number).padStart(3, '0')}`;
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  let rest = createHash('sha256').update(body).digest().readUIntBE(0, 6);
  let checksum = '';
  for (let place = 0; place < 6; place++) {
    checksum = alphabet.charAt(rest % 62) + checksum;
    rest = Math.floor(rest / 62);
  }
  return body + checksum;
}
