import type { IdTokenProvider } from '../../config/config.ts';
import type { ApiError } from '../../errors.ts';
import type { UserCaller } from '../../model/caller.ts';
import type { Tokens } from '../../model/session.ts';
import type { Settings } from './settings.ts';

/** Purpose of a mailed code. */
export type CodeType = 'signup' | 'recovery';

interface Credentials {
  email: string;
  password: string;
}
type NewAccount = Credentials & { fullName: string | undefined };
interface IdToken {
  provider: IdTokenProvider;
  idToken: string;
  nonce: string | undefined;
}
interface SignInOptions {
  /**
   * True for a trusted client beyond a limit of attempts. Its call goes first in the password queue, because the client
   * gets the 429 of the limit unless it succeeds within 2 s.
   */
  isBeyondLimit?: boolean;
  /** Cancels the call unless it has started. */
  gone?: AbortSignal;
}
interface MailedCode {
  type: CodeType;
  email: string;
  code: string;
}
interface PasswordChange {
  password: string;
  currentPassword: string | undefined;
}

/**
 * Calls of Supabase Auth for a client with an IP address. All throw ApiError, which never contains Auth's text:
 * rate_limited at a limit of Auth or when the queue is full, the codes named at each call, else server_error.
 */
export interface Auth {
  /** Returns the public settings, or the last known ones while Auth does not answer. @throws server_error */
  settings(): Promise<Settings>;
  /**
   * Creates an account. Returns null when its address must be confirmed first, after the same time for every address.
   * @param noMail called, perhaps later, with the reason why no mail was sent, which the client must not learn
   * @throws invalid_request
   */
  signUp(account: NewAccount, ip: string, noMail: (why: object) => void): Promise<Tokens | null>;
  /** Opens a session of a new guest, an anonymous user. @returns null while guests are switched off at Auth */
  signUpGuest(ip: string): Promise<Tokens | null>;
  /** Returns the error of a sign-in that would find the password queue full. The limits of attempts send it. */
  overload(ip: string): ApiError | undefined;
  /**
   * Opens a session.
   * @throws unauthorized, with one text and after the same time for a wrong address or password
   */
  signIn(credentials: Credentials, ip: string, options?: SignInOptions): Promise<Tokens>;
  /** Opens a session with an ID token. @throws unauthorized when Auth rejects the token, its nonce or its account */
  exchangeIdToken(token: IdToken, ip: string): Promise<Tokens>;
  /** Returns new tokens. @throws unauthorized when the token is unknown or was used, or its session has ended */
  refresh(refreshToken: string, ip: string): Promise<Tokens>;
  /** Ends the session of an access token. Succeeds also if the session has already ended. @throws unauthorized */
  signOut(accessToken: string, ip: string): Promise<void>;
  /**
   * Has Auth mail a code. Returns null, or Auth's code for why it sent no mail, for the log: the client must not learn
   * it, because an error about the mail reveals an account.
   */
  mailCode(type: CodeType, email: string, ip: string): Promise<string | null>;
  /** Opens a session with a mailed code. @throws unauthorized, with one text for every fault of code and account */
  verifyCode(mailed: MailedCode, ip: string): Promise<Tokens>;
  /**
   * Confirms an address with a mailed code, and sets the password and name. The database removes the password and name
   * of the first sign-up, except the name in the metadata, which is part of every token.
   * @param complete runs with the new session, to complete the account
   * @throws unauthorized for the code. After it was used: invalid_request or server_error, which say how to continue
   */
  confirmAddress(
    confirmation: NewAccount & { code: string },
    ip: string,
    complete: (tokens: Tokens) => Promise<unknown>,
  ): Promise<Tokens>;
  /** Sets a new password and ends all other sessions. @throws invalid_request, unauthorized */
  changePassword(caller: UserCaller, change: PasswordChange, ip: string): Promise<void>;
  /**
   * Returns the ids that Apple has given the user. Empty if the account was not made with Apple. Checks the session.
   * @throws unauthorized as deleteAccount
   */
  appleIds(caller: UserCaller): Promise<string[]>;
  /**
   * Deletes an account; the database deletes its rows. Checks the session first, because its token may outlive it.
   * @throws unauthorized when the session has ended, or the account is banned or deleted
   */
  deleteAccount(caller: UserCaller): Promise<void>;
}
