#!/usr/bin/env node
// Starts @NAME@ from the package that npm installed for this system.
'use strict';

const { spawn } = require('node:child_process');

const platform = `@NAME@-${process.platform}-${process.arch}`;

function findProgram() {
  const name = process.platform === 'win32' ? '@NAME@.exe' : '@NAME@';
  try {
    return require.resolve(`${platform}/bin/${name}`);
  } catch {
    console.error(`error: the package ${platform} is not installed`);
    console.error('hint: it is an optional dependency, so install without --omit=optional; not every system has one');
    process.exit(3);
  }
}

const child = spawn(findProgram(), process.argv.slice(2), { stdio: 'inherit' });
// The terminal sends these to both of us, and the program decides when to end.
for (const signal of ['SIGINT', 'SIGQUIT']) {
  process.on(signal, () => {});
}
for (const signal of ['SIGTERM', 'SIGHUP']) {
  process.on(signal, () => child.kill(signal));
}
child.on('error', (error) => {
  console.error(`error: ${error.message}`);
  process.exit(3);
});
child.on('exit', (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
