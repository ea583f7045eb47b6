import type { ErrorReason } from '../error-reasons.ts';
import { ApiError } from '../errors.ts';

/** The 429 of every limit. @param waitMs when to come back, in milliseconds from now */
export const tooManyRequests = (waitMs: number, reason: ErrorReason) =>
  new ApiError('rate_limited', 'Too many requests. Wait as many seconds as Retry-After says.', {
    reason,
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) },
  });
