/** The one script of all pages. It only enhances: every page works without it. */
import { startCopyButtons } from './copy.ts';
import { startEditors } from './editors.ts';
import { startFilters } from './filter.ts';
import { startLater } from './later.ts';
import { startLines } from './lines.ts';
import { startLive } from './live.ts';
import { startMenus } from './menus.ts';
import { openPalette, startPalette } from './palette.ts';
import { reviewShortcuts, startReview } from './review/start.ts';
import { rowShortcuts } from './rows.ts';
import { startShortcuts } from './shortcuts.ts';
import { startTimes, updateTimes } from './times.ts';
import { startTasks } from './tasks.ts';

startTimes();
startLater(updateTimes);
startMenus();
startCopyButtons();
startLines();
startEditors();
startFilters();
startTasks();
startPalette();
startReview();
startShortcuts(
  new Map([
    ['/', ['Search or jump to', openPalette]],
    ['s', ['Search or jump to', openPalette]],
    ...rowShortcuts(),
    ...reviewShortcuts(),
  ]),
);
startLive();
