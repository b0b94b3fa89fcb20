//! [`Code`]: the stable names of errors.

use std::fmt;

/// Defines [`Code`]. A macro, because the formatter would give each variant a line of its own.
macro_rules! codes {
    ($($name:ident,)*) => {
        /// What kind of error it is. Its name in snake case, e.g. `unit_missing`, is stable for
        /// scripts. `core/report/src/explain/words` explains each.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
            strum::IntoStaticStr, strum::EnumString, strum::VariantArray,
        )]
        #[strum(serialize_all = "snake_case")]
        #[expect(missing_docs, reason = "`wavetank explain` has a text for each, which a test ensures")]
        pub enum Code {
            $($name,)*
        }
    };
}

codes! {
    // The command line and its values.
    Address, AmbiguousRun, BadAccounts, BadAgentFolder, BadAlpn, BadBasic, BadBody, BadBroker,
    BadCapacity, BadChange, BadConnectTo, BadCpus, BadCurl, BadDuration, BadFactor, BadFleetFile,
    BadHeader, BadHostList, BadHosts, BadInterval, BadInventory, BadLease, BadListen, BadLossPolicy,
    BadManifest, BadMask, BadMethod, BadName, BadNetHost, BadNetwork, BadPair, BadPem, BadPorts,
    BadProxy, BadScheme, BadSecret, BadSni, BadSource, BadStage, BadStatus, BadTag, BadTls,
    BadToken, BadUrl, CheckUnknown, CodeUnknown, CommandMissing, CommandUnknown, ConditionEmpty,
    ConditionOp, ConditionSubject, ConditionTail, ConditionValue, ConditionWindow, Conflict,
    CountUnknown, DoctorConsent, EventsAlone, FileForUrl, FleetSourcesShared, FleetTarget, Freeze,
    HostUnobserved, LabCommand, LabConfig, LabDiffers, LabEventsMany, LabFaultUnknown,
    LabFaultWords, LabFolder, LabHost, LabHostName, LabName, LabNoLoadHost, LabNone, LabNotUp,
    LabPoolWords, LabSaleCopies, LabService, LabWhich, LabWithout, LintForeign, LintKindUnknown,
    MetricsFile, MetricsName, MetricsOutput, NameUnknown, Negative, NetHostUnknown, NetJob,
    NetNoPairs, NetNoToken, NoAddress, NoAnswer, NoBaseline, NoFile, NoFleet, NoFolder, NoHost,
    NoLoad, NoLoadHosts, NoRun, NoShell, NoUrl, NotAFleetRun, NotANumber, NotRunning, NotUtf8,
    NotWhole, NothingToProbe, ObservedHost, OptionUnknown, OutOfRange, Overflow, PhaseUnjudged,
    PhaseUnknown, PruneWhat, RendezvousUnknown, RequestRejected, ScenarioUnknown, SearchLimits,
    SearchPhases, StepAmbiguous, StepUnknown, TargetTls, Threads, ThresholdMissing,
    ThresholdUnsearchable, TruthUnaskable, UiFolder, UiNotLoopback, UnitMissing, UnitOrder,
    UnitUnknown, UnknownHost, UrlUser, Usage, ValueLater, ValueMissing, ValueSurplus, ValueUnknown,
    WordSurplus, Zero,
    // This host and the allowed targets.
    AgentNotStarted, AgentNotStopped, AgentSpool, AgentUnreachable, BadDatabase, BrokerNotMade,
    BrokerNotServed, CannotDetach, CannotListen, CannotSettle, CannotStartPage, DoctorBusy,
    DoctorInterrupted, DoctorJournal, DoctorRejected, FleetRefused, FleetUnreachable, HostCannot,
    HostUnreachable, LabBusy, LabCommandFailed, LabCounters, LabFaultFailed, LabFaultVacant,
    LabFaultsMany, LabFile, LabHealth, LabHeld, LabHostDead, LabInterrupted, LabIpvs, LabKeeper,
    LabKernel, LabLimit, LabMessage, LabNetwork, LabNft, LabPoolFailed, LabProgram, LabRoot,
    LabSetting, LabSilent, LabSsh, LabStart, LabState, LabStuck, LabSystem, LabThere, LinuxOnly,
    ManifestNotMade, MetricsBind, NetBusy, NetConnect, NetFiltered, NetHostFailed, NetListen,
    NetNameUnknown, NetPeerGone, NetProgram, NetProtocol, NetRandom, NetRefused, NetTestFailed,
    NetToken, NetUdpFiltered, NetUnreachable, NetVersion, NoBackendPorts, NoDriver, NoFiles,
    NoLockedMemory, NoLoopback, NoMemory, NoOwnTarget, NoPermission, NoRandom, NoSourceAddress,
    NoSuchAddress, NoSuchSource, NoThreads, NoTls, NoTracking, NoUring, PlanPackage, PortInUse,
    TargetNotAllowed, TooFewHosts,
    // Stored runs and output files.
    ArchiveChanged, ArchiveDamaged, ArchiveNewer, ArchiveUnreadable, ArchiveUnwritable,
    CalibrationDamaged, CalibrationUnreadable, CalibrationUnwritable, DifferentKinds, FileExists,
    FormatOfRuns, MetricUnknown, NetAndRuns, NetDamaged, NoArchive, NoHostSamples, NoRoom,
    NoStateFolder, NotAPack, NotAnArchive, NotCalibrated, NotPackable, NotRemoved, OneSide,
    OutExists, OutSuffix, OutUnwritable, PackDamaged, ResultUnwritten, RunAmbiguous, RunEmpty,
    RunExists, RunPacked, RunUnfinished, RunUnknown, RunWritten, RunsUnreadable, SameRun,
    SearchDamaged, SidesUnclear, StdoutUnwritable,
    // Files with invalid content.
    AtSign, BadAuth, BadCheck, BadCloseCode, BadExtent, BadFile, BadFileName, BadFrom, BadHex,
    BadPath, BadProto, BadRange, BadRegex, BadSeed, BadShape, BadSpike, BadThink, BadTrace,
    BodySecond, BodyUnusual, BracketsUnquoted, ColonUnquoted, DatagramLength, EnvUnknown, FileEmpty,
    FileTooLarge, FileTooLong, ForeignFile, FunctionUnknown, GrpcField, GrpcMessage, GrpcMethod,
    GrpcNotOpen, KeyDuplicate, KeyMissing, KeyNotText, KeyUnknown, LabAddress, LabAddressTwice,
    LabAddressesCount, LabAddressesShort, LabBadName, LabCpus, LabFault, LabFilePath, LabFileText,
    LabFileUnreadable, LabFilesShort, LabHostTwice, LabHostUnknown, LabKeyConflict, LabLoadLimits,
    LabMemory, LabNameTwice, LabNetworkTwice, LabNetworkUnknown, LabNoSharedNetwork, LabOpenFiles,
    LabOverlap, LabPattern, LabPort, LabPortTwice, LabRoute, LabServer, LabServerDeaf,
    LabServiceTwice, LabServiceUnknown, LabSources, LabSubnet, LabSysctl, LabSysctlValue,
    LabTooMany, LabValue, LabVerbs, LengthKind, LengthMissing, LengthSecond, LoadMissing,
    LoadSecond, LoadZero, NameReserved, NotABool, NotAList, NotAMap, NotAValue, NotFixed,
    OptionConflict, PasswordWritten, PhaseEmpty, PhaseKey, PhasesEmpty, ProtocolLater, RawEmpty,
    ScenarioBoth, SecretMisplaced, SecretUnknown, SecretUnused, SessionsEach, SetUnknown,
    SoapWithoutXml, StairHeight, StairParts, StairRamp, StepShape, StepsBoth, StepsEmpty,
    StepsMissing, TargetBoth, TargetMissing, TemplateEmpty, TemplateForeign, TemplateFunction,
    TemplateNotFixed, TemplateSyntax, TemplateUnclosed, TemplateUnquoted, Think, TimeoutOrder,
    TooDeep, TooMany, TooManySeries, VariableUnknown, VerbMissing, VerbSecond, VersionUnknown,
    WaveKind, WeightMissing, WeightUnused, WordUnknown, WrongProtocol, WrongScheme, YamlAlias,
    YamlBrackets, YamlDirective, YamlDocuments, YamlEscape, YamlIndent, YamlQuote, YamlReserved,
    YamlSyntax, YamlTab, YamlTag,
    // Files with valid syntax but inconsistent content.
    BlockLoop, BlockUnknown, BlockUnused, ConditionBoth, ConditionsReplaced, EventUndo, HoldCold,
    ListUnset, NameDuplicate, NoThink, PercentileUndecided, PhasesUnused, RendezvousOf,
    RendezvousOfMany, RendezvousWait, RequestsUnknown, ScenarioIdle, SessionRequests, StopSense,
    TargetOpen, TargetUnknown, TemplatePlace, ThresholdSense, ThresholdUnreachable, TimeoutShort,
    UsersAtOnce, WarmupOnly, WeightAlone, WeightsRelative,
    // Rows of data and values of responses.
    BadSeparator, ByteOrderMark, ColumnDuplicate, ColumnUnknown, DataColumns, DataEmpty,
    DataEncoding, DataMissing, DataRow, DataSeparator, DataSize, DataSource, DataUnknown,
    DataUnused, Extract, ExtractCss, ExtractJson, ExtractRegex, ExtractXml, HeaderMissing,
    HeaderRepeated, KeysIgnored, RowLength, RowsTooFew, Separator,
}

impl Code {
    /// All codes.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The name for scripts, e.g. `unit_missing`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the code of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl PartialEq<&str> for Code {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}
