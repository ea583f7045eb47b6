import express from 'express';
import { loadConfig } from '../../src/config/config.ts';
import { createClients } from '../../src/supabase/clients.ts';
import { createFetch } from '../../src/supabase/fetch.ts';

// Express only: makes the same calls to Supabase as the gateway, with the same clients, and does nothing else.

const config = loadConfig(process.env);
const { user, service } = createClients(config, createFetch(null).fetch);
const app = express();

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
