import { answer, type CallOptions, signalOf } from './call.ts';
import type { Parts } from './parts.ts';
import type { AccountExport, Category, Customer, CustomerChanges, HomeSection, Profile } from './resources.ts';

/** Time limit for the export of an account, which may be megabytes. It is sent once, because the service limits it. */
const exportLimitMs = 65_000;

/** Creates the calls that keep nothing on the device. @param url URL of the service */
export function createCalls(url: string, { api, session, covers }: Pick<Parts, 'api' | 'session' | 'covers'>) {
  const withoutToken = session.api({ needsNoToken: true });
  const patient = session.api({ repeatable: false, timeLimitMs: exportLimitMs, attemptLimitMs: exportLimitMs });

  return {
    customer: {
      /** Returns the customer record of the user. */
      get: async (options?: CallOptions): Promise<Customer> =>
        (await answer(api.GET('/me/customer', signalOf(options)))).data,
      /** Changes only the given fields. Null clears a field. */
      update: async (body: CustomerChanges, options?: CallOptions): Promise<Customer> =>
        (await answer(api.PATCH('/me/customer', { body, ...signalOf(options) }))).data,
    },

    /** Returns the sections of the home page with their sounds. */
    async home(options?: CallOptions): Promise<HomeSection[]> {
      const [{ sections }] = await Promise.all([answer(api.GET('/home', signalOf(options))), covers()]);
      return sections;
    },

    /** Returns the tree of categories. Needs no session. */
    categories: async (options?: CallOptions): Promise<Category[]> =>
      (await answer(withoutToken.GET('/categories', signalOf(options)))).data,

    /** Returns everything that the service stores about the user. */
    export: async (options?: CallOptions): Promise<AccountExport> =>
      (await answer(patient.GET('/me/export', signalOf(options)))).data,

    /**
     * Calls an endpoint that has no method here, like `fetch` but with the session. Repeats GET, HEAD, PUT and DELETE.
     * @param path path below the URL of the service, such as `/sounds`
     * @returns a response of status 2xx, or 304 if you send `If-None-Match`
     * @throws SoundsError for every other response
     */
    fetch(path: `/${string}`, init?: RequestInit): Promise<Response> {
      const request = new Request(`${url}/${path.replace(/^\/+/, '')}`, init);
      return session.fetch(request, { repeatable: !['POST', 'PATCH'].includes(request.method) });
    },

    /** Returns the profile of the user. */
    me: async (options?: CallOptions): Promise<Profile> => (await answer(api.GET('/me', signalOf(options)))).data,
  };
}
