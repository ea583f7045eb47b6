import { createHash } from 'node:crypto';
import { type Api, bearer } from '../../../test/support/api.ts';
import { signUp } from '../../../test/support/test.ts';
import type { EmptyProject } from './empty-project.ts';

async function checksumAt(url: string | null): Promise<string | null> {
  if (url === null) return null;
  const answer = await fetch(url);
  const bytes = Buffer.from(await answer.arrayBuffer());
  return `${answer.status} ${answer.headers.get('content-type')} ${createHash('sha256').update(bytes).digest('hex')}`;
}

async function allSounds(
  get: (path: string) => Promise<{ data: { id: string }[]; next_cursor: string | null }>,
) {
  const sounds: { id: string }[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await get(`/sounds?limit=3${cursor && `&cursor=${cursor}`}`);
    sounds.push(...page.data);
    cursor = page.next_cursor;
  }
  return sounds;
}

/** Returns everything that apps see of a project except plays, with the checksums of its files. */
export async function catalogueOf({ api }: { api: Api }) {
  const { access_token } = await signUp(api);
  const get = async (path: string) => (await api.get(path).auth(access_token, bearer).expect(200)).body;
  const sounds = await allSounds(get);
  const details = await Promise.all(
    sounds.map(async ({ id }) => {
      const { audio_url, cover_image_url, play_count: _, ...detail } = (await get(`/sounds/${id}`)).data;
      return { ...detail, audio: await checksumAt(audio_url), cover: await checksumAt(cover_image_url) };
    }),
  );
  const listed = sounds.map((sound) => ({ ...sound, play_count: 0 }));
  return { listed, details, home: await get('/home'), categories: await get('/categories') };
}

/** Returns the rows that administrators see. */
export async function rowsOf({ sql }: Pick<EmptyProject, 'sql'>) {
  return {
    sounds:
      await sql`select id, title, is_active, audio_path, cover_image_path, sort_order from public.sounds order by id`,
    categories:
      await sql`select id, slug, is_active, sort_order, parent_id from public.categories order by id`,
    sections:
      await sql`select id, slug, is_active, item_limit, sort_order from public.home_sections order by id`,
  };
}
