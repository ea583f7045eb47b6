import type { Request, Response } from 'express';
import type { Options } from 'express-rate-limit';
import type { Config } from '../config/config.ts';
import type { ErrorReason } from '../error-reasons.ts';
import { lruCache } from '../shared/lru-cache.ts';
import {
  perAccount,
  perAccountAndClient,
  perAccountAndNetwork,
  perCaller,
  perClient,
  perSession,
  perUser,
} from './key-generators.ts';

/** Limit, with options of express-rate-limit and of this service. */
export interface Limit extends Pick<Options, 'windowMs' | 'limit'> {
  keyGenerator: (req: Request, res: Response) => string;
  /** Tells whether an attempt with this response counts. By default every request counts. */
  counts?: (res: Response, activeKeys: ActiveKeys) => boolean;
  /** Counts when the response is known, so that attempts in flight cannot fill the limit. Default: at the start. */
  countsLate?: boolean;
  /**
   * Lets clients that the account trusts make attempts beyond this limit, so that other clients cannot lock out the
   * owner. A failed attempt gets the same 429 as those of other clients, so that it does not reveal the trust.
   */
  letsTrustedTry?: boolean;
  /** Requests for which the limit counts. Default: all but attempts beyond another limit, which are only checked. */
  appliesTo?: (res: Response, activeKeys: ActiveKeys) => boolean;
  reason: ErrorReason;
  /** Sends the X-RateLimit headers. Default: false. */
  legacyHeaders?: boolean;
  /** Words for the OpenAPI document, which says "`limit` `what` an hour for one `per`". */
  what: string;
  per: string;
}

/** Hashes of API keys that the database has accepted recently. */
export interface ActiveKeys {
  readonly has: (keyHash: string) => boolean;
}

const minute = { windowMs: 60_000 };
const tenMinutes = { windowMs: 600_000 };
const hour = { windowMs: 3_600_000 };

/** Counts responses with one of these statuses. */
function status(...counted: number[]) {
  return { counts: ({ statusCode }: Response) => counted.includes(statusCode) };
}

const requests = { reason: 'limit_requests', what: 'requests', legacyHeaders: true } as const;

/** Returns the hash of an API key that the database has not accepted recently, because it may be made up. */
const unverifiedKeyHash = ({ locals: { caller } }: Response, activeKeys: ActiveKeys) =>
  caller?.via === 'api_key' && !activeKeys.has(caller.keyHash) ? caller.keyHash : undefined;

/**
 * Limits requests with unverified API keys. Counts those that fail once a minute for each key and address, because
 * otherwise a valid key that is sent often during an outage of the database would be rejected after it.
 */
function unverifiedKeys() {
  const failed = lruCache<true>(10_000, minute.windowMs);
  return {
    ...requests,
    what: 'unknown API keys',
    counts(res: Response, activeKeys: ActiveKeys) {
      const keyHash = unverifiedKeyHash(res, activeKeys);
      if (keyHash === undefined || res.statusCode === 429) return false; // 429: a limit has rejected the request
      if (res.statusCode < 500) return true;
      const key = `${res.locals.clientAddress} ${keyHash}`;
      const isFirst = !failed.has(key);
      if (isFirst) failed.set(key, true);
      return isFirst;
    },
    appliesTo: (res: Response, activeKeys: ActiveKeys) => unverifiedKeyHash(res, activeKeys) !== undefined,
  };
}

const attempts = { reason: 'limit_attempts', ...status(400, 401) } as const;
const passwords = { ...attempts, what: 'wrong passwords' }; // also every other 400 and 401 of a sign-in
const codes = { ...attempts, what: 'wrong codes' };
const signUps = { ...attempts, what: 'sign-ups', ...status(200, 400) };
const guests = { ...attempts, what: 'new guests', ...status(200, 400) };
const signIns = { ...attempts, what: 'successful sign-ins', ...status(200), countsLate: true };

const mails = {
  reason: 'limit_mails',
  what: 'mails',
  ...hour,
  /** Counts a response that mailed a code. A sign-up that returned a session did not. */
  counts: ({ statusCode, locals }: Response) => statusCode === 200 && !('access_token' in (locals.payload?.data ?? {})),
} as const;

const recoveryMails = { ...mails, what: 'mails for a recovery' };

const letsTrustedTry = { letsTrustedTry: true } as const;

/**
 * Limits the attempts that trusted clients make beyond another limit. The response is the 429 of the other limit, at
 * the time at which all get it. Each attempt counts, whatever its result, because `counts` is absent.
 */
const triedAnyway = {
  what: 'attempts beyond another limit',
  ...hour,
  ...perAccountAndClient,
  per: 'account and client that it trusts',
  appliesTo: ({ locals }: Response) => locals.refusal !== undefined,
};

/** Factor by which an address may refresh more often, because mobile carriers have thousands of users behind one. */
const refreshFactor = 10;

/** Returns all limits, by the names that endpoints, metrics and Redis use. */
export function limits(rates: Config['rateLimits']) {
  const limit: Options['limit'] = (_req, { locals: { caller, hasRefreshToken } }) => {
    if (caller?.via === 'jwt') return rates.userPerMinute;
    if (caller?.via === 'api_key') return rates.apiKeyPerMinute;
    return hasRefreshToken ? refreshFactor * rates.anonymousPerMinute : rates.anonymousPerMinute;
  };
  return {
    requests: { ...requests, limit, ...minute, ...perCaller },
    unknownApiKeys: { ...unverifiedKeys(), limit: rates.anonymousPerMinute, ...minute, ...perClient },
    // Endpoints list limits per client first, so that a rejected client creates no counters for made-up addresses. The
    // limits per network are lower than those in total, so that one network cannot lock out the owner elsewhere.
    failedSignInsPerClient: { ...passwords, limit: 100, ...tenMinutes, ...perClient, ...letsTrustedTry },
    failedSignIns: { ...passwords, limit: 10, ...minute, ...perAccountAndClient },
    failedSignInsPerHour: { ...passwords, limit: 30, ...hour, ...perAccountAndClient },
    failedSignInsPerNetwork: { ...passwords, limit: 60, ...hour, ...perAccountAndNetwork, ...letsTrustedTry },
    failedSignInsInTotal: { ...passwords, limit: 200, ...hour, ...perAccount, ...letsTrustedTry },
    signInsTriedAnyway: { ...triedAnyway, reason: 'limit_attempts', limit: 30 },
    signIns: { ...signIns, limit: 30, ...minute, ...perAccount },
    failedCodesPerClient: { ...codes, limit: 100, ...tenMinutes, ...perClient, ...letsTrustedTry },
    failedCodes: { ...codes, limit: 10, ...hour, ...perAccountAndClient },
    failedCodesPerNetwork: { ...codes, limit: 30, ...hour, ...perAccountAndNetwork, ...letsTrustedTry },
    failedCodesInTotal: { ...codes, limit: 100, ...hour, ...perAccount, ...letsTrustedTry },
    codesTriedAnyway: { ...triedAnyway, reason: 'limit_attempts', limit: 10 },
    // Counts per session, so that a thief of one can neither guess the password nor stop its owner from changing it.
    rejectedPasswords: { ...attempts, what: 'rejected passwords', limit: 10, ...hour, ...perSession },
    signUps: { ...signUps, limit: rates.signUpsPerHour, ...hour, ...perClient },
    guests: { ...guests, limit: rates.guestsPerHour, ...hour, ...perClient },
    mailsFromClient: { ...mails, limit: 30, ...perClient, ...letsTrustedTry },
    mailsPerNetwork: { ...mails, limit: 2, ...perAccountAndNetwork },
    mailsToAddress: { ...mails, limit: 5, ...perAccount },
    // Count separately, so that mails after sign-ups with an address do not stop its owner from recovering the account.
    recoveryMailsPerNetwork: { ...recoveryMails, limit: 2, ...perAccountAndNetwork, ...letsTrustedTry },
    recoveryMailsToAddress: { ...recoveryMails, limit: 5, ...perAccount, ...letsTrustedTry },
    mailsSentAnyway: { ...triedAnyway, reason: 'limit_mails', limit: 3 },
    exports: { reason: 'limit_exports', what: 'exports', ...status(200), limit: 5, ...hour, ...perUser },
  } satisfies Record<string, Limit>;
}

const windowWords: Record<number, string> = { 60000: 'a minute', 3600000: 'an hour' };

/** Describes a limit, such as "10 wrong codes an hour for one account and client". */
export function wordsOf({ limit, what, windowMs, per }: Limit): string {
  return `${limit} ${what} ${windowWords[windowMs] ?? `in ${windowMs / 60_000} minutes`} for one ${per}`;
}

type Limits = ReturnType<typeof limits>;

/** Name of a limit of the table, or of the check whether the queue of password calls is full. */
export type LimitName = keyof Limits | 'passwordQueue';
