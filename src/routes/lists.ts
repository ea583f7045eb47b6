import { z } from 'zod';
import { endpoint, inEnvelope } from '../endpoint.ts';
import { body, text, uuid } from '../model/fields.ts';
import { exampleListId, ListResult, SavedList } from '../model/list.ts';

const example = {
  id: exampleListId,
  name: 'Night',
  is_mix: true,
  items: [{ sound_id: '50000000-0000-4000-8000-000000000001', volume: 0.4 }],
  version: 0,
};

const maxLists = 20;
const maxItemsInAll = 1_000;
const maxItems = 200;
const maxItemsOfMix = 20;

const badVolume = 'must be a number from 0 to 1, or null';
const badVersion = 'must be the version that the edit began from, or 0';

/** Rejects unknown fields, because saving would lose what an app means by them. */
const ListEditItem = z
  .strictObject({
    sound_id: uuid,
    volume: z
      .number(badVolume)
      .min(0, badVolume)
      .max(1, badVolume)
      .nullish()
      .transform((value) => value ?? null)
      .meta({ examples: [0.4] }),
  })
  .meta({ id: 'ListEditItem' });

type Item = z.infer<typeof ListEditItem>;

/** Name of a list, without characters that break a line. */
const name = text(100).refine(
  (value) => !/[\p{Cc}\u2028\u2029]/u.test(value),
  'must have no line ends, tabs or other control characters',
);

const areDifferentSounds = (items: Item[] | null) =>
  items === null || new Set(items.map(({ sound_id }) => sound_id)).size === items.length;

const ListEdit = z
  .object({
    id: uuid.meta({ examples: [exampleListId] }),
    name: name.meta({ examples: ['Night'] }),
    is_mix: z.boolean('must be true or false').meta({ examples: [true] }),
    items: z
      .array(ListEditItem, 'must be a list of items, or null')
      .max(maxItems, `must hold at most ${maxItems} items`)
      .nullable()
      .refine(areDifferentSounds, 'must hold each sound once'),
    version: z
      .int(badVersion)
      .min(0, badVersion)
      .max(2 ** 31 - 1, badVersion)
      .meta({ examples: [0] }),
  })
  .refine(({ is_mix, items }) => !is_mix || (items ?? []).length <= maxItemsOfMix, {
    path: ['items'],
    error: `must hold at most ${maxItemsOfMix} items in a mix`,
  })
  .meta({ id: 'ListEdit' });

const itemsIn = (lists: { items: Item[] | null }[]) => lists.reduce((sum, { items }) => sum + (items ?? []).length, 0);

export const listEndpoints = [
  endpoint('listLists', 'GET /lists', {
    summary: 'List mixes and playlists',
    description: "The caller's mixes and playlists with their items, newest change first.",
    response: z.object({ data: z.array(SavedList) }).meta({ id: 'SavedListListResponse' }),
    cache: 'revalidate',
    handle: async ({ context, caller }) => inEnvelope('data', await context.data.json(caller, 'list_lists')),
  }),

  endpoint('saveLists', 'PUT /lists', {
    summary: 'Save mixes and playlists',
    description:
      `Saves 1 to ${maxLists} whole lists, with at most ${maxItemsInAll.toLocaleString('en')} items in all; items of ` +
      'null remove a list. The app makes the `id`. `version` is the one that the edit began from, and 0 for a new ' +
      'list: an edit that began from another state is not written, and gets `changed` with the present list. ' +
      'The same content again gets `saved` and changes nothing, so a request can be repeated. An id stays removed for ' +
      `30 days. A mix has at most ${maxItemsOfMix} items, a playlist ${maxItems}. Items of deleted sounds are left ` +
      'out. The results have the order of the lists. One invalid list returns 400, and nothing is saved.',
    body: body({
      lists: z
        .array(ListEdit, 'must be a list of lists')
        .min(1, 'must hold at least one list')
        .max(maxLists, `must hold at most ${maxLists} lists`)
        .refine((lists) => itemsIn(lists) <= maxItemsInAll, `must hold at most ${maxItemsInAll} items in all`)
        .meta({ examples: [[example]] }),
    }).meta({ id: 'SaveListsRequest' }),
    maxBody: '128kb',
    response: z.object({ data: z.array(ListResult) }).meta({ id: 'ListResultListResponse' }),
    handle: async ({ context, caller, body: { lists } }) => ({
      data: await context.data.call(caller, 'save_lists', { lists }),
    }),
  }),
];
