/**
 * Loaded into a process that is observed (`--import=.../probe.ts?folder=...`): writes its heap and open handles
 * into `<pid>.json` of that folder every few seconds. gitd inherits the flag from the service.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const every = 2_000;
const folder = new URL(import.meta.url).searchParams.get('folder') ?? '/nonexistent';
const file = join(folder, `${process.pid}.json`);

const write = (): void => {
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  const handles = process.getActiveResourcesInfo().length;
  try {
    writeFileSync(`${file}.new`, JSON.stringify({ heapUsed, external, arrayBuffers, handles }));
    renameSync(`${file}.new`, file);
  } catch {
    // the folder goes before the last process does
  }
};

setInterval(write, every).unref();
