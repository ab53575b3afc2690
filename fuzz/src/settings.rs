//! What a program of this package is asked for on its command line.

/// How long, how much, by how many threads, from where.
pub struct Settings {
    pub seconds: Option<u64>,
    pub count: Option<u64>,
    pub threads: usize,
    pub seed: u64,
}

impl Settings {
    /// Those of the command line, of which `count` is named by the option `counted`.
    pub fn read(counted: &str) -> Result<Settings, String> {
        let mut settings = Settings { seconds: None, count: None, threads: 2, seed: 1 };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let value = words.next().and_then(|v| v.parse::<u64>().ok());
            let value = value.ok_or_else(|| format!("{word} needs a number"))?;
            match word.as_str() {
                "--seconds" => settings.seconds = Some(value),
                "--threads" => settings.threads = value.clamp(1, 64) as usize,
                "--seed" => settings.seed = value,
                _ if word == counted => settings.count = Some(value),
                _ => return Err(format!("{word} is not an option")),
            }
        }
        if settings.seconds.is_none() && settings.count.is_none() {
            settings.seconds = Some(10);
        }
        Ok(settings)
    }
}
