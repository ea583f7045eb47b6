import type { CallOptions } from './call.ts';
import type { Entries } from './entries.ts';
import type { Waiting } from './send.ts';
import type { DeviceSession } from './session.ts';
import type { Session } from './stored-session.ts';

/** Parts of the client that the calls for accounts need. */
export interface AccountOptions {
  url: string;
  waiting: Waiting;
  session: DeviceSession;
  /** Sessions of guests that wait for their adoption, for each user. */
  guests: Entries<Session>;
  data: {
    /** Unsent changes of each user. */
    unsent: Pick<Entries<unknown>, 'forget'>[];
    /** Sends unsent plays and positions before a session ends. */
    sendLast: (sender: DeviceSession, options?: CallOptions) => Promise<unknown>;
  };
}

/** Objects that the calls for accounts share. */
export interface Accounts extends AccountOptions {
  /** Creates a session in memory, for calls that are not made with the session of the device. */
  passingSession: () => DeviceSession;
  /** Session that a recovery code has opened, until the new password is set. */
  recovery: DeviceSession | null;
}
