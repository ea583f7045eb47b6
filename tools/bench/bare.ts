import express from 'express';
import { loadConfig } from '../../src/config/config.ts';
import { createClients } from '../../src/supabase/clients.ts';
import { createFetch } from '../../src/supabase/fetch.ts';

// Express only: makes the same calls to Supabase as the gateway, with the same clients, and does nothing else.

const config = loadConfig(process.env);
const { user, service } = createClients(config, createFetch(null).fetch);
const app = express();

app.use(express.json());

app.get('/api/v1/home', async (_req, res) => {
  const { data } = await service.rpc('list_home_sections', {}, { get: true }).throwOnError();
  res.json({ sections: data });
});

app.get('/api/v1/categories', async (_req, res) => {
  const { data } = await service.rpc('list_categories', {}, { get: true }).throwOnError();
  res.json({ data });
});

app.get('/api/v1/sounds', async (_req, res) => {
  const { data } = await service.rpc('list_sounds', { filters: {} }, { get: true }).throwOnError();
  res.json(data);
});

app.get('/api/v1/catalogue/changes', async (_req, res) => {
  const { data } = await service.rpc('list_catalogue_changes', { filters: {} }, { get: true }).throwOnError();
  res.json(data);
});

interface FoundFile {
  path: string;
}

/** Replaces the paths of files by signed addresses. */
async function sign(bucket: string, files: FoundFile[]) {
  const paths = files.map(({ path }) => path);
  const { data } = await service.storage.from(bucket).createSignedUrls(paths, 300);
  const expires_at = Math.floor(Date.now() / 1000) + 300;
  return files.map(({ path, ...rest }, index) => ({ url: data?.[index]?.signedUrl, expires_at, ...rest }));
}

app.post('/api/v1/sounds/files', async ({ headers: { authorization = '' }, body: { ids } }, res) => {
  const call = user.rpc('list_sound_files', { wanted: { ids } }).setHeader('Authorization', authorization);
  const found = (await call.throwOnError()).data as unknown as { audio: FoundFile; cover: FoundFile }[];
  const [audio, covers] = await Promise.all([
    sign(
      'audio',
      found.map((one) => one.audio),
    ),
    sign(
      'covers',
      found.map((one) => one.cover),
    ),
  ]);
  res.json({ data: found.map((one, index) => ({ ...one, audio: audio[index], cover: covers[index] })) });
});

app.get('/api/v1/me/customer', async ({ headers: { authorization = '' } }, res) => {
  const { data } = await user.rpc('get_customer').setHeader('Authorization', authorization).throwOnError();
  res.json({ data, auth_via: 'jwt' });
});

app.get('/api/v1/favorites', async ({ headers: { authorization = '' } }, res) => {
  const { data } = await user.rpc('list_favorites').setHeader('Authorization', authorization).throwOnError();
  res.json({ data });
});

app.get('/api/v1/sounds/:id', async ({ headers: { authorization = '' }, params: { id } }, res) => {
  const call = user.rpc('get_sound', { sound: id }).setHeader('Authorization', authorization);
  const { audio_path, cover_image_path, is_locked, ...sound } = Object((await call.throwOnError()).data);
  const [audio, cover] = await Promise.all([
    service.storage.from('audio').createSignedUrl(audio_path, 300),
    service.storage.from('covers').createSignedUrl(cover_image_path, 300),
  ]);
  const urls = { cover_image_url: cover.data?.signedUrl, audio_url: audio.data?.signedUrl };
  res.json({ data: { ...sound, ...urls, audio_url_expires_in: 300, is_locked } });
});

app.post('/api/v1/sounds/:id/play', async ({ params: { id } }, res) => {
  res.json({ data: (await service.rpc('count_play', { sound: id }).throwOnError()).data });
});

app.listen(config.port, '127.0.0.1').keepAliveTimeout = 75_000;
