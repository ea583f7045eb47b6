import { answer, type CallOptions, dataOf, signalOf } from './call.ts';
import type { Parts } from './parts.ts';
import type { AccountExport, Category, Customer, CustomerChanges, HomeSection, Profile } from './resources.ts';
import type { IsAnswer } from './shape.ts';

/** Settings of a call of `fetch`. */
export interface Sender {
  /** User as whom it is sent. Rejects if another user is signed in. */
  userId?: string | undefined;
  /** Tells whether a body is the answer. Another body counts as no answer. */
  isAnswer?: IsAnswer;
}

/** Time limit for the export of an account, which may be megabytes. It is sent once, because the service limits it. */
const exportLimitMs = 65_000;

/** Creates the calls that keep nothing on the device. @param url URL of the service */
export function createCalls(url: string, { api, session, withCovers }: Pick<Parts, 'api' | 'session' | 'withCovers'>) {
  const withoutToken = session.api({ needsNoToken: true });
  const patient = session.api({ repeatable: false, timeLimitMs: exportLimitMs, attemptLimitMs: exportLimitMs });

  return {
    customer: {
      /** Returns the customer record of the user. */
      get: (options?: CallOptions): Promise<Customer> => dataOf(api.GET('/me/customer', signalOf(options))),
      /** Changes only the given fields. Null clears a field. */
      update: (body: CustomerChanges, options?: CallOptions): Promise<Customer> =>
        dataOf(api.PATCH('/me/customer', { body, ...signalOf(options) })),
    },

    /** Returns the sections of the home page with their sounds. */
    async home(options?: CallOptions): Promise<HomeSection[]> {
      return (await withCovers(answer(api.GET('/home', signalOf(options))))).sections;
    },

    /** Returns the tree of categories. Needs no session. */
    categories: (options?: CallOptions): Promise<Category[]> =>
      dataOf(withoutToken.GET('/categories', signalOf(options))),

    /** Returns everything that the service stores about the user. */
    export: (options?: CallOptions): Promise<AccountExport> => dataOf(patient.GET('/me/export', signalOf(options))),

    /**
     * Calls an endpoint that has no method here, like `fetch` but with the session. Repeats GET, HEAD, PUT and DELETE.
     * @param path path below the URL of the service, such as `/sounds`
     * @returns a response of status 2xx, or 304 if you send `If-None-Match`
     * @throws SoundsError for every other response
     */
    fetch(path: `/${string}`, init?: RequestInit, sender?: Sender): Promise<Response> {
      const request = new Request(`${url}/${path.replace(/^\/+/, '')}`, init);
      return session.fetch(request, { repeatable: !['POST', 'PATCH'].includes(request.method), ...sender });
    },

    /** Returns the profile of the user. */
    me: (options?: CallOptions): Promise<Profile> => dataOf(api.GET('/me', signalOf(options))),
  };
}
