import type { Api } from './api.ts';
import { type CallOptions, dataOf, signalOf } from './call.ts';
import type { Schema } from './schema.ts';

/** A device on which the user is signed in. `is_current` marks this one. */
export interface Device extends Schema<'DeviceSession'> {}

/** The devices on which the user is signed in. */
export interface Devices extends ReturnType<typeof createDevices> {}

export function createDevices(api: Api) {
  return {
    /** Lists the devices, last used first. */
    list: (options?: CallOptions): Promise<Device[]> => dataOf(api.GET('/me/sessions', signalOf(options))),

    /**
     * Signs out a device. It keeps its access token until that expires, within the hour. For this one use
     * `auth.signOut`.
     * @throws SoundsError `not_found` if the device is signed out already: call `list` again
     */
    async end(id: string, options?: CallOptions): Promise<void> {
      await api.DELETE('/me/sessions/{id}', { params: { path: { id } }, ...signalOf(options) });
    },

    /** Signs out all devices except this one. */
    async endOthers(options?: CallOptions): Promise<void> {
      await api.DELETE('/me/sessions', signalOf(options));
    },
  };
}
