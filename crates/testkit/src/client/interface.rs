//! A client in its own interface: opened in a terminal, past what it asks first, waiting for a prompt.

use std::thread;
use std::time::Duration;

use super::{Client, ClientError, Sandbox, Setup, Terminal};

/// How long an interface that shows nothing new may still be loading.
const SETTLE_TIME: Duration = Duration::from_secs(3);

/// How long after its prompt a client may come with a question.
const QUESTION_TIME: Duration = Duration::from_secs(10);

impl Client {
    /// Configures the client, and settles what its interface asks about itself and about these projects of one home. What
    /// is installed afterwards stays.
    pub fn prepare_interface(&self, projects: &[&Sandbox], setup: &Setup, port: u16) -> Result<(), ClientError> {
        for (index, sandbox) in projects.iter().enumerate() {
            if index == 0 {
                sandbox.configure(self.lab, setup, port)?;
            }
            self.lab.client.runner.settle_interface(sandbox)?;
        }
        Ok(())
    }

    /// Does what is left to the user of a client that nothing can be installed in.
    pub fn opt_in_handoff(&self, sandbox: &Sandbox) -> Result<(), ClientError> {
        self.lab.client.runner.opt_in_handoff(sandbox)
    }

    /// Opens a new session, or one that is named, and waits until a prompt can be typed. The client must be prepared.
    pub fn open_interface(
        &self,
        sandbox: &Sandbox,
        setup: &Setup,
        port: u16,
        session_id: Option<&str>,
    ) -> Result<Terminal, ClientError> {
        let runner = self.lab.client.runner;
        let args = session_id.map_or_else(|| runner.start_args(), |id| runner.interface_args(id));
        let mut terminal = Terminal::start(&sandbox.prepared_launch(self, setup, port).args(args))?;
        self.await_prompt(&mut terminal)?;
        Ok(terminal)
    }

    /// Waits for the prompt, and answers for the user on the way.
    fn await_prompt(&self, terminal: &mut Terminal) -> Result<(), ClientError> {
        let runner = self.lab.client.runner;
        let mut screens = runner.user_screens().to_vec();
        loop {
            terminal.wait_for(runner.ready_text().unwrap_or_default())?;
            // Sessions and hooks are loaded behind the interface; before they are there, keys are lost.
            terminal.wait_until_quiet();
            thread::sleep(SETTLE_TIME);
            let asked = screens.iter().position(|screen| terminal.is_shown_within(screen.shows, QUESTION_TIME));
            let Some(index) = asked else { return Ok(()) };
            for key in screens.remove(index).keys {
                terminal.press(key)?;
            }
        }
    }
}
