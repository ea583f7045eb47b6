import type { z } from 'zod';
import type { CatalogueChanges } from '../model/catalogue-change.ts';
import type { Category } from '../model/category.ts';
import type { Customer } from '../model/customer.ts';
import type { Favorite } from '../model/favorite.ts';
import type { HistoryEntry } from '../model/history.ts';
import type { HomeSection } from '../model/home-section.ts';
import type { PlayCount, PlayResult } from '../model/play.ts';
import type { ProgressEntry, ProgressResult } from '../model/progress.ts';
import type { SoundPage, StoredFiles, StoredSound } from '../model/sound.ts';

/** Result of each SQL function that returns JSON. Contract tests compare it with the database. */
export type Results = {
  count_play: PlayCount;
  count_plays: PlayResult[];
  get_customer: Customer;
  get_sound: StoredSound;
  list_catalogue_changes: z.infer<typeof CatalogueChanges>;
  list_categories: Category[];
  list_favorites: Favorite[];
  list_history: { data: HistoryEntry[]; has_more: boolean };
  list_home_sections: HomeSection[];
  list_progress: ProgressEntry[];
  list_sound_files: StoredFiles[];
  list_sounds: SoundPage;
  save_progress: ProgressResult[];
  update_customer: Customer;
};
