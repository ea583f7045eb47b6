/** Members of HTMLAudioElement that the client uses, declared here because the package has no DOM types. */
export interface AudioElement {
  src: string;
  currentTime: number;
  readonly duration: number;
  readonly paused: boolean;
  readonly loop: boolean;
  crossOrigin: string | null;
  play(): Promise<void>;
  pause(): void;
  load(): void;
  hasAttribute(name: 'src'): boolean;
  removeAttribute(name: 'src'): void;
  addEventListener(type: string, listener: () => void): void;
  removeEventListener(type: string, listener: () => void): void;
}
