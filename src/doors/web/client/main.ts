/** The one script of all pages. It only enhances: every page works without it. */
import { startCopyButtons } from './copy.ts';
import { startFilters } from './filter.ts';
import { startLive } from './live.ts';
import { startMenus } from './menus.ts';
import { openPalette, startPalette } from './palette.ts';
import { startShortcuts } from './shortcuts.ts';
import { startTimes } from './times.ts';

startTimes();
startMenus();
startCopyButtons();
startFilters();
startPalette();
startShortcuts(
  new Map([
    ['/', ['Search or jump to', openPalette]],
    ['s', ['Search or jump to', openPalette]],
  ]),
);
startLive();
