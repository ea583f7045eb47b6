import type { Request, Response } from 'express';
import type { Config } from '../config.ts';
import type { ErrorReason } from '../error-reasons.ts';
import { clientAddress } from '../http/client-address.ts';
import { accountKey, clientKey } from './known-clients.ts';

/** How an attempt ended: rejected for what the client sent, limited by another limit, failed behind the gateway. */
export type Outcome = 'done' | 'rejected' | 'limited' | 'failed';

/** A row of the table in README.md. */
export type Limit = Readonly<{
  limit: number;
  windowMs: number;
  rateLimitKey: (req: Request, res: Response) => string;
  /** The outcomes that count; an attempt that ended otherwise is refunded. */
  counts: readonly Outcome[];
  /** What the client has had too many of. */
  reason: ErrorReason;
  /** Clients from which the account was signed in to lately fall under their own limits alone. */
  isForStrangers?: true;
}>;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const client = (req: Request) => `ip:${clientKey(clientAddress(req))}`;
const account = (req: Request) => accountKey(req.body.email);
const accountAtClient = (req: Request) => `${client(req)}:${account(req)}`;

function userOf({ locals: { caller } }: Response) {
  if (caller?.via !== 'jwt') throw new Error('This limit is for endpoints of users');
  return caller;
}

const user = (_req: Request, res: Response) => `user:${userOf(res).userId}`;

/** A session, by the id that Auth gives it, which it keeps through refreshes; a user where the token names none. */
function session(req: Request, res: Response): string {
  const { sessionId } = userOf(res).claims;
  return sessionId === undefined ? user(req, res) : `session:${sessionId}`;
}

const attempts = { reason: 'limit_attempts', counts: ['rejected'] } as const;
const mails = { reason: 'limit_mails', counts: ['done'], windowMs: hourMs } as const; // what is not sent floods nobody

/** The limits of attempts, by the names that endpoints, metrics and Redis know them by. */
export const limitsOfAttempts = ({ anonymousPerMinute, signUpsPerHour }: Config['rateLimits']) =>
  ({
    unknownApiKeys: {
      limit: anonymousPerMinute,
      windowMs: minuteMs,
      rateLimitKey: client,
      counts: ['rejected', 'failed'],
      reason: 'limit_requests',
    },
    failedSignIns: { ...attempts, limit: 10, windowMs: minuteMs, rateLimitKey: accountAtClient },
    failedSignInsPerHour: { ...attempts, limit: 30, windowMs: hourMs, rateLimitKey: accountAtClient },
    failedSignInsInTotal: {
      ...attempts,
      limit: 200,
      windowMs: hourMs,
      rateLimitKey: account,
      isForStrangers: true,
    },
    failedCodes: { ...attempts, limit: 10, windowMs: hourMs, rateLimitKey: accountAtClient },
    failedCodesInTotal: {
      ...attempts,
      limit: 100,
      windowMs: hourMs,
      rateLimitKey: account,
      isForStrangers: true,
    },
    // A stolen session must not be enough to guess the current password, nor to keep its owner from changing it.
    rejectedPasswords: { ...attempts, limit: 10, windowMs: hourMs, rateLimitKey: session },
    signUps: {
      ...attempts,
      limit: signUpsPerHour,
      windowMs: hourMs,
      rateLimitKey: client,
      counts: ['done', 'rejected', 'failed'],
    },
    mailsToAddress: { ...mails, limit: 5, rateLimitKey: account },
    mailsFromClient: { ...mails, limit: 30, rateLimitKey: client },
    exports: { limit: 5, windowMs: hourMs, rateLimitKey: user, counts: ['done'], reason: 'limit_exports' },
  }) satisfies Record<string, Limit>;

export type LimitName = keyof ReturnType<typeof limitsOfAttempts>;
