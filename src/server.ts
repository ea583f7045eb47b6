import { createApp } from './app.ts';
import { configOrExit } from './config/config.ts';
import { createContext } from './context.ts';
import { serve } from './http/serve.ts';

const context = createContext(configOrExit());
serve(context, createApp(context));
