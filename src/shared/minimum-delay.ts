import { setTimeout } from 'node:timers/promises';

/** Minimum response time, so that timing does not reveal whether an account exists. Hashing takes Auth less than this. */
const minimumMs = 500;

export const minimumDelay = () => setTimeout(minimumMs);

/** Response time of a 429 that hides which clients an account trusts. Their attempts have this time to succeed. */
const refusalMs = 2_000;

export const refusalDelay = () => setTimeout(refusalMs);
