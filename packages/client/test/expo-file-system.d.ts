// Declares the part of expo-file-system 58 that the README uses, because the package depends on Expo and React Native.
declare module 'expo-file-system' {
  export class File {
    constructor(...uris: (string | File | Directory)[]);
    readonly name: string;
    readonly uri: string;
    exists: boolean;
    size: number;
    create(options?: { intermediates?: boolean; overwrite?: boolean }): void;
    delete(): void;
    rename(newName: string): void;
    write(content: string | Uint8Array | ArrayBuffer, options?: { append?: boolean }): Promise<void>;
  }
  export class Directory {
    constructor(...uris: (string | File | Directory)[]);
    readonly name: string;
    create(options?: { intermediates?: boolean; idempotent?: boolean }): void;
    delete(): void;
    list(): (Directory | File)[];
  }
  export const Paths: { readonly document: Directory };
}
