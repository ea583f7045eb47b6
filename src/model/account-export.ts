import { z } from 'zod';
import { Customer, Profile } from './customer.ts';
import { Favorite } from './favorite.ts';
import { HistoryEntry } from './history.ts';
import { RemovedList, SavedList } from './list.ts';
import { StoredProgress } from './progress.ts';
import { dateTime, soundId } from './sound.ts';

const ApiKeyName = z
  .object({
    name: z.string().meta({ examples: ['Partner'] }),
    key_prefix: z.string().meta({ examples: ['sk_live_4mZq0X1b'] }),
  })
  .meta({ id: 'ApiKeyName' });

const PlayReceipt = z
  .object({
    key: z.string().meta({ examples: ['8f14e45f-ceea-4e7a-9c3b-2d1f0a6b5c4d'] }),
    sound_id: soundId,
    received_at: dateTime,
  })
  .meta({ id: 'PlayReceipt' });

const HistoryClearing = z
  .object({
    sound_id: soundId.nullable().meta({ description: 'Null: the whole history.' }),
    cleared_at: dateTime,
  })
  .meta({ id: 'HistoryClearing' });

export const AccountExport = z
  .object({
    profile: Profile,
    customer: z.object(Customer.shape).nullable().meta({ id: 'CustomerOrNull' }),
    favorites: z.array(Favorite),
    history: z.array(HistoryEntry),
    api_keys: z.array(ApiKeyName),
    play_receipts: z
      .array(PlayReceipt)
      .meta({ description: 'Plays that were sent with a key or an id, kept for 31 days.' }),
    listening_days: z.array(z.iso.date()).meta({
      description: 'Days of the last 31 on which something was played (UTC).',
      examples: [['2026-06-23']],
    }),
    progress: z.array(StoredProgress),
    history_clearings: z.array(HistoryClearing).meta({
      description: 'When the history was last cleared, or a sound removed from it, kept for 30 days.',
    }),
    lists: z.array(SavedList),
    removed_lists: z.array(RemovedList).meta({ description: 'Removals of lists, kept for 30 days.' }),
  })
  .meta({ id: 'AccountExport' });
