import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import type { Config } from '../config.ts';
import type { ErrorReason } from '../error-reasons.ts';
import { clientAddress } from './client-address.ts';

/** Limits that count besides the general one, on the endpoints that name them. */
export const extraLimitNames = [
  'failedSignIns',
  'failedSignInsInTotal',
  'failedCodes',
  'failedCodesInTotal',
  'refusedPasswords',
  'signUps',
  'mailsToAddress',
  'mailsFromClient',
  'exports',
] as const;

export type ExtraLimit = (typeof extraLimitNames)[number];

/** How a request ended: failed is what says nothing about it, a failure behind the gateway or another limit. */
export type Outcome = 'done' | 'refused' | 'failed';

type ExtraLimitOptions = Readonly<{
  limit: number;
  windowMs: number;
  keyOf: (req: Request, res: Response) => string;
  /** Whether a request that ended so counts for good. */
  counts: (outcome: Outcome) => boolean;
  /** What the client is told that it has had too many of; attempts unless said. */
  reason?: ErrorReason;
}>;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** @param prefixLength how IPv6 addresses are told apart: one device owns a /64, one connection to the Internet a /56 */
export const addressOf = (req: Request, prefixLength = 64) =>
  `ip:${ipKeyGenerator(clientAddress(req), prefixLength)}`;

function userOf(_req: Request, { locals: { caller } }: Response): string {
  if (caller?.via !== 'jwt') throw new Error('Only users export their accounts');
  return `user:${caller.userId}`;
}

/** A session, by the id that Auth gives it, which it keeps through refreshes; a user where the token names none. */
function sessionOf(_req: Request, { locals: { caller } }: Response): string {
  if (caller?.via !== 'jwt') throw new Error('Only sessions of users change passwords');
  const { sessionId } = caller.claims;
  return sessionId === undefined ? `user:${caller.userId}` : `session:${sessionId}`;
}

/** An account by its e-mail address, which is no business of Redis. */
function accountOf(req: Request): string {
  const email = String(req.body.email).trim().toLowerCase();
  return createHash('sha256').update(email).digest('hex');
}

const accountAtAddress = (req: Request) => `${addressOf(req, 56)}:${accountOf(req)}`;

const isRefused = (outcome: Outcome) => outcome === 'refused';
const isDone = (outcome: Outcome) => outcome === 'done';

export const extraLimits = ({
  signUpsPerHour,
}: Config['rateLimits']): Record<ExtraLimit, ExtraLimitOptions> => ({
  // Whoever guesses is stopped at their address; the account's owner, at another one, only once many have guessed.
  failedSignIns: { limit: 10, windowMs: minuteMs, keyOf: accountAtAddress, counts: isRefused },
  failedSignInsInTotal: { limit: 200, windowMs: hourMs, keyOf: accountOf, counts: isRefused },
  failedCodes: { limit: 10, windowMs: hourMs, keyOf: accountAtAddress, counts: isRefused },
  failedCodesInTotal: { limit: 100, windowMs: hourMs, keyOf: accountOf, counts: isRefused },
  // A stolen session must not be enough to guess the current password, nor to keep its owner from changing it.
  refusedPasswords: { limit: 10, windowMs: hourMs, keyOf: sessionOf, counts: isRefused },
  signUps: { limit: signUpsPerHour, windowMs: hourMs, keyOf: (req) => addressOf(req), counts: () => true },
  // Nobody's mailbox is to be flooded. What Auth refuses, or cannot do at the moment, floods none.
  mailsToAddress: {
    limit: 5,
    windowMs: hourMs,
    keyOf: accountOf,
    counts: isDone,
    reason: 'limit_mails',
  },
  mailsFromClient: {
    limit: 30,
    windowMs: hourMs,
    keyOf: (req) => addressOf(req),
    counts: isDone,
    reason: 'limit_mails',
  },
  exports: { limit: 5, windowMs: hourMs, keyOf: userOf, counts: isDone, reason: 'limit_exports' },
});
