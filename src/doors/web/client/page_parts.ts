/** Runs what prepares a part of a page: at the start, and whenever a part is added or replaced. */
const listeners: (() => void)[] = [];

/** Runs a listener now, and after each change. */
export const onPartShown = (listener: () => void): void => {
  listeners.push(listener);
  listener();
};

export const partShown = (): void => listeners.forEach((listener) => listener());
