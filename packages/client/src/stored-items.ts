/** Storage for tokens and unsent changes: localStorage, AsyncStorage, SecureStore, or any object of this shape. */
export interface Store {
  getItem: (key: string) => string | null | Promise<string | null>;
  setItem: (key: string, value: string) => unknown;
  removeItem: (key: string) => unknown;
}
