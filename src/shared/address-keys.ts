import { createHash } from 'node:crypto';
import { ipKeyGenerator } from 'express-rate-limit';

/** Returns the key of a client: its IPv4 address, or its IPv6 /56, which is one connection to the Internet. */
export const clientKey = (ip: string) => `ip:${ipKeyGenerator(ip, 56)}`;

/** Returns the key of a network: an IPv4 /24 or an IPv6 /48, the most that a provider gives to one customer. */
export const networkKey = (ip: string) => `network:${ipKeyGenerator(ip, 48).replace(/\.\d+$/, '')}`;

/** Hashes an e-mail address, so that Redis holds no personal data. @param client adds the client to the key */
export const accountKey = (email: string, client = '') =>
  createHash('sha256').update(`${email.toLowerCase()} ${client}`).digest('hex');
