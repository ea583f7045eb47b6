import { setTimeout } from 'node:timers/promises';

/** Minimum response time, so that timing does not reveal whether an account exists. Hashing takes Auth less than this. */
const minimumMs = 500;

export const minimumDelay = () => setTimeout(minimumMs);
