import type { Request, Response } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import type { UserCaller } from '../model/caller.ts';
import { accountKey, clientKey, networkKey } from '../shared/address-keys.ts';

/** Scope of a counter: its name in the OpenAPI document, and the function that returns the key of a request. */
interface Keyed {
  per: string;
  keyGenerator: (req: Request, res: Response) => string;
}

export const emailOf = ({ locals }: Response) => (locals.input.body as { email: string }).email;

const user = ({ locals }: Response) => locals.caller as UserCaller;
const client = ({ locals }: Response) => clientKey(locals.clientAddress);
const network = ({ locals }: Response) => networkKey(locals.clientAddress);
const session = (res: Response) => user(res).claims.sessionId ?? user(res).userId;
const account = (res: Response) => accountKey(emailOf(res));

/** Returns the key of the user or the API key, or of the address of a caller without a valid credential. */
function caller({ locals: { caller, clientAddress, hasRefreshToken } }: Response): string {
  if (caller?.via === 'jwt') return `user:${caller.userId}`;
  if (caller?.via === 'api_key') return `key:${caller.keyHash}`;
  const address = `ip:${ipKeyGenerator(clientAddress, 64)}`; // the IPv6 /64 of one device
  // Counts separately, so that reads of other clients with the same address cannot sign a user out.
  return hasRefreshToken ? `refresh:${address}` : address;
}

const keyed = (per: string, keyOf: (res: Response) => string): Keyed => ({
  per,
  keyGenerator: (_req, res) => keyOf(res),
});

export const perCaller = keyed('caller', caller);
export const perClient = keyed('client', client);
export const perAccount = keyed('account', account);
export const perAccountAndClient = keyed('account and client', (res) => `${client(res)}:${account(res)}`);
export const perAccountAndNetwork = keyed('account and network', (res) => `${network(res)}:${account(res)}`);
export const perUser = keyed('user', (res) => `user:${user(res).userId}`);
export const perSession = keyed('session', (res) => `session:${session(res)}`);
