import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../errors.ts';
import type { Caller } from '../model/caller.ts';
import { reportedAt } from '../model/cursor.ts';
import { body, uuid } from '../model/fields.ts';
import { PlayCount, PlayResult } from '../model/play.ts';

const examplePlay = {
  id: '8f14e45f-ceea-4e7a-9c3b-2d1f0a6b5c4d',
  sound_id: '50000000-0000-4000-8000-000000000001',
  played_at: '2026-06-23T09:30:00.000Z',
};

/** Header of draft-ietf-httpapi-idempotency-key-header. Converts UUIDs to lower case, because Swift sends capitals. */
const idempotencyKey = z
  .string()
  .transform((value) => (/^".*"$/.test(value) ? value.slice(1, -1).replace(/\\(["\\])/g, '$1') : value))
  .pipe(z.string().regex(/^[!-~]{1,255}$/, 'must be 1 to 255 visible ASCII characters'))
  .transform((value) => uuid.safeParse(value).data ?? value)
  .meta({
    override: { minLength: 1, maxLength: 255 },
    description:
      'Id that the app gives to this play: a new UUID. A request with the key of a play that was counted within the ' +
      'last 30 days is not counted again, and returns the current count. Other callers can use the same keys.',
  });

const OfflinePlay = z.object({ id: uuid, sound_id: uuid, played_at: reportedAt }).meta({ id: 'OfflinePlay' });

/** Returns the argument that names the player. An API key needs none, because the database finds its owner. */
const playerOf = (caller: Caller) => (caller.via === 'jwt' ? { player: caller.userId } : {});

export const playEndpoints = [
  endpoint('countPlay', 'POST /sounds/{id}/play', {
    summary: 'Count a play',
    description:
      'Adds one to the global play counter of the sound, atomically, returns the new count, and enters the play in the ' +
      "caller's history. With an `Idempotency-Key` the request may be repeated; without one, a repeated request counts " +
      'twice. A key that was used for another sound gets 400; a 404 uses up no key. A locked sound gets the 404 of an ' +
      'inactive one. The service remembers 1,000 keys for a user and day (UTC; 100,000 for an API key), with the ids ' +
      'of `POST /plays`; a play beyond them counts, but its key is not remembered.',
    params: z.object({ id: uuid.meta({ description: 'Id of the sound.' }) }),
    resource: 'sound',
    headers: z.object({ 'Idempotency-Key': idempotencyKey.optional() }),
    response: z.object({ data: PlayCount }).meta({ id: 'PlayCountResponse' }),
    handle: async ({ context, caller, params, headers }) => {
      const key = headers['Idempotency-Key'];
      const data = await context.data.service.find(caller, 'count_play', {
        sound: params.id,
        ...playerOf(caller),
        ...(key !== undefined && { idempotency_key: key }),
      });
      if (data === null) throw notFound('sound');
      return { data };
    },
  }),

  endpoint('countPlays', 'POST /plays', {
    summary: 'Count plays that were made without a network',
    description:
      'Counts up to 100 plays in one request, which can be repeated: each `id`, a UUID made by the app, counts once ' +
      'for the caller. An id is the same as an `Idempotency-Key`, so that a play that was sent with a key can be ' +
      'sent again with that key as its id. Each play counts for the day on which it was made (UTC). The statuses ' +
      'have the order of the plays. Beyond 1,000 plays of a user on a day (UTC, by arrival; 100,000 for an API key), ' +
      'plays are `over_limit`. A play of a premium sound counts if it was made before `premium_until` of the customer, ' +
      'also when it arrives later; otherwise it is `not_found`. One invalid play returns 400, and nothing is counted.',
    body: body({
      plays: z
        .array(OfflinePlay, 'must be a list of plays')
        .min(1, 'must hold at least one play')
        .max(100, 'must hold at most 100 plays')
        .meta({ examples: [[examplePlay]] }),
    }).meta({ id: 'PlaysRequest' }),
    maxBody: '32kb',
    response: z.object({ data: z.array(PlayResult) }).meta({ id: 'PlayResultListResponse' }),
    handle: async ({ context, caller, body: { plays } }) => ({
      data: await context.data.service.call(caller, 'count_plays', { plays, ...playerOf(caller) }),
    }),
  }),
];
