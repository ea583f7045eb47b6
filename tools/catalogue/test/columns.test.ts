import { expect } from 'vitest';
import { Sound, SoundDetail } from '../../../src/model/sound.ts';
import { test } from '../../../test/support/test.ts';
import { sheetColumns } from '../read/sheet.ts';
import { columnNames, type Facts } from '../shared/fields.ts';

// A column that is missing here was left out of a list. CONTRIBUTING.md names all of them.

/** Columns that only the database writes. A sheet may set `created_at` of a new sound. */
const internal = ['id', 'created_at', 'updated_at', 'deleted_at', 'list_rank', 'search_title', 'search_vector'];
const measured: (keyof Facts)[] = ['loudness_lufs', 'true_peak_dbtp', 'waveform', 'cover_placeholder'];
/** Columns that users do not see. */
const hidden = ['is_active', 'deleted_at', 'sort_order', 'updated_at', 'list_rank', 'search_title', 'search_vector'];

test('each column of sounds is imported, measured or internal, and shown unless it is hidden', async ({ sql }) => {
  const columnsOf = async (name: string): Promise<string[]> => {
    const rows = await sql`
      select attname from pg_attribute where attrelid = ${name}::regclass and attnum > 0 and not attisdropped order by attnum`;
    return rows.map(({ attname }) => attname);
  };
  const columns = await columnsOf('public.sounds');
  expect(columns.toSorted()).toEqual([...internal, ...measured, ...Object.keys(columnNames)].toSorted());
  expect(sheetColumns.toSorted()).toEqual(
    ['file', 'key', 'created_at', ...Object.keys(columnNames).filter((column) => column !== 'audio_path')].toSorted(),
  );

  const shown = await columnsOf('private.stored_sound');
  expect(columns.filter((column) => !shown.includes(column))).toEqual(hidden);
  expect(await columnsOf('private.sound')).toEqual(Object.keys(Sound.shape));
  const detail = shown.filter((column) => !['audio_path', 'cover_image_path'].includes(column));
  expect(Object.keys(SoundDetail.shape).toSorted()).toEqual(
    [...detail, 'audio_url', 'audio_url_expires_in'].toSorted(),
  );
});
