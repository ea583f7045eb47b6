import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../errors.ts';
import { uuid } from '../model/fields.ts';
import { DeviceSession } from '../model/session.ts';

const effect =
  'A refresh of an ended session is 401 at once; its access token stays valid until it expires, within the hour.';
const callers = 'API keys get 401 here, and so does a caller whose own session has ended.';

export const sessionEndpoints = [
  endpoint('listSessions', 'GET /me/sessions', {
    summary: 'List where the caller is signed in',
    description:
      `The session of the request and the 49 others that were last used, last used first. Expired sessions are left out. ` +
      `\`DELETE /me/sessions\` also ends those that are not listed. ${callers}`,
    guard: 'user',
    response: z.object({ data: z.array(DeviceSession) }).meta({ id: 'SessionListResponse' }),
    handle: async ({ context, caller }) => ({ data: await context.data.call(caller, 'list_sessions') }),
  }),

  endpoint('endOtherSessions', 'DELETE /me/sessions', {
    summary: 'Sign out all other devices',
    description: `Ends all sessions of the caller except the current one. ${effect} ${callers}`,
    guard: 'user',
    handle: ({ context, caller }) => context.data.call(caller, 'end_sessions'),
  }),

  endpoint('endSession', 'DELETE /me/sessions/{id}', {
    summary: 'Sign out one device',
    description: `Ends one session of the caller, which may be the current one. ${effect} ${callers}`,
    guard: 'user',
    params: z.object({ id: uuid.meta({ description: 'Id of the session.' }) }),
    resource: 'session',
    handle: async ({ context, caller, params }) => {
      const ended = await context.data.call(caller, 'end_sessions', { ended_session: params.id });
      if (!ended) throw notFound('session');
    },
  }),
];
